// What the runtime provides: printf, assert, malloc and free, trap.
struct Node { int value; Node* next; };
extern "C" __global__ void print_assert_malloc(const int* x, int* sum, int n) {
    assert(n >= 0);
    Node* head = nullptr;
    for (int i = 0; i < n; i++) {
        Node* node = (Node*)malloc(sizeof(Node));
        if (!node) __trap();
        node->value = x[i]; node->next = head;
        head = node;
    }
    int total = 0;
    while (head) { total += head->value; Node* next = head->next; free(head); head = next; }
    printf("thread %d of block %d: %d (%f, %s)\n", threadIdx.x, blockIdx.x, total, total / 2.0, "half");
    int* array = new int[4];
    for (int i = 0; i < 4; i++) array[i] = total + i;
    sum[blockIdx.x * blockDim.x + threadIdx.x] = array[3];
    delete[] array;
}
