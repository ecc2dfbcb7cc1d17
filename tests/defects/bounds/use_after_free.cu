// A node is freed and its next pointer is read from it afterwards.
// launch: grid=1 block=1
// arg: buf:i32[1]
// expect: 0[0] = 6
struct Node { int value; Node* next; };

__device__ Node* push(Node* head, int value) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = value;
    node->next = head;
    return node;
}

extern "C" __global__ void defect(int* out) {
    Node* head = nullptr;
    for (int i = 1; i <= 3; i++) head = push(head, i);
    int sum = 0;
    while (head) {
        sum += head->value;
        free(head);
        head = head->next; // FAULT: out_of_bounds
    }
    *out = sum;
}

extern "C" __global__ void fixed(int* out) {
    Node* head = nullptr;
    for (int i = 1; i <= 3; i++) head = push(head, i);
    int sum = 0;
    while (head) {
        sum += head->value;
        Node* next = head->next;
        free(head);
        head = next;
    }
    *out = sum;
}
