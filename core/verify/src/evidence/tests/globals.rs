//! Where the addresses of device variables go.

use lightbench_project::manifest::Evidence::{DeviceGlobals, Printf};

use super::check;

const ITEMS: &str = ".global .align 4 .u32 counter;
    .global .align 4 .f32 table[4] = {0f3F800000, 0f40000000};
    .const .align 4 .f32 weights[4];
    .shared .align 4 .f32 tile[4];
    .global .align 8 .u64 pointer = generic(counter);
    .const .align 8 .u64 pointers[2] = {generic(counter), generic(table)};
    .global .align 1 .b8 $str[3] = {104, 105};
    .global .align 8 .u64 second = generic(pointer);
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
    .func use (.param .b64 a) { ret; }";

fn writes(body: &str, name: &str) {
    check(ITEMS, body, &[(DeviceGlobals, &format!("writes {name}"))]);
}

fn loses(body: &str, name: &str) {
    check(ITEMS, body, &[(DeviceGlobals, &format!("passes on the address of {name}"))]);
}

fn reads(body: &str) {
    check(ITEMS, body, &[]);
}

#[test]
fn stores_and_atomics_write() {
    writes("st.global.u32 [counter], %r1;", "`counter`");
    writes("st.global.u32 [counter+4], %r1;", "`counter`");
    writes("atom.global.add.u32 %r1, [counter], 1;", "`counter`");
    writes("red.global.add.u32 [counter], 1;", "`counter`");
    writes("mov.u64 %rd1, counter;\natom.global.add.u32 %r1, [%rd1], 1;", "`counter`");
    writes("cp.async.bulk.global.shared::cta.bulk_group [table], [%r1], %r2;", "`table`");
    writes(
        "mov.u64 %rd1, table;\ncvta.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r1, 4;\n\
         add.s64 %rd4, %rd2, %rd3;\nst.f32 [%rd4], %f1;",
        "`table`",
    );
}

#[test]
fn tables_may_be_read() {
    reads("ld.global.f32 %f1, [table+4];");
    reads("ld.const.f32 %f1, [weights];");
    reads("mov.u64 %rd1, table;\nadd.s64 %rd2, %rd1, %rd3;\nld.global.nc.f32 %f1, [%rd2];");
    reads(
        "mov.u64 %rd1, table;\nmov.u64 %rd2, weights;\nselp.b64 %rd3, %rd1, %rd2, %p1;\nld.f32 %f1, [%rd3];",
    );
    reads("prefetch.global.L2 [table];");
    reads("cp.async.ca.shared.global [%r1], [table], 16;");
    reads("mov.u64 %rd1, table;\nsetp.eq.s64 %p1, %rd1, %rd2;");
    reads("st.shared.f32 [tile], %f1;\nst.global.f32 [%rd1], %f1;");
}

#[test]
fn a_pointer_in_a_table_is_followed() {
    writes("ld.global.u64 %rd1, [pointer];\nst.u32 [%rd1], 1;", "`counter`");
    writes("ld.const.u64 %rd1, [pointers+8];\nst.u32 [%rd1], 1;", "`counter` or another variable");
    writes("ld.global.u64 %rd1, [second];\nld.u64 %rd2, [%rd1];\nst.u32 [%rd2], 1;", "`counter`");
    reads("ld.global.u64 %rd1, [pointer];\nld.u32 %r1, [%rd1];");
}

#[test]
fn an_address_is_lost_in_memory_calls_and_odd_arithmetic() {
    loses("mov.u64 %rd1, counter;\nst.global.u64 [%rd2], %rd1;", "`counter`");
    loses("mov.u64 %rd1, counter;\nst.shared.u64 [tile], %rd1;", "`counter`");
    loses("mov.u64 %rd1, counter;\natom.global.exch.b64 %rd3, [%rd2], %rd1;", "`counter`");
    loses("mov.u64 %rd1, counter;\nxor.b64 %rd2, %rd1, %rd3;", "`counter`");
    loses(
        "mov.u64 %rd1, counter;\nmov.b64 {%r1, %r2}, %rd1;\nshfl.sync.idx.b32 %r3, %r1, 0, 31, -1;",
        "`counter`",
    );
    loses(
        "{\n.param .b64 param0;\nmov.u64 %rd1, counter;\nst.param.b64 [param0], %rd1;\ncall use, (param0);\n}",
        "`counter`",
    );
    loses("mov.u64 %rd1, pointers;\nst.global.u64 [%rd2], %rd1;", "`counter` or another variable");
}

#[test]
fn a_function_may_not_return_an_address() {
    let items = format!(
        "{ITEMS}\n.func (.param .b64 where) find () {{ .reg .b64 %rd<2>;\nmov.u64 %rd1, counter;\nst.param.b64 [where], %rd1;\nret; }}"
    );
    let expected = [(DeviceGlobals, "passes on the address of `counter`")];
    check(&items, "call (%rd1), find, ();", &expected);
    // The same where the old ABI returns it in a register, whole or as an element of a vector.
    for body in [
        "mov.u64 where, counter;",
        ".reg .v2 .b64 %v;\nmov.u64 %v.x, counter;\nmov.b64 where, %v.x;",
    ] {
        let items = format!("{ITEMS}\n.func (.reg .b64 where) find () {{ {body}\nret; }}");
        check(&items, "call (%rd1), find, ();", &expected);
    }
}

#[test]
fn printing_a_literal_is_printing_only() {
    let print = "{\n.param .b64 param0;\nmov.u64 %rd1, $str;\ncvta.global.u64 %rd2, %rd1;\n\
                 st.param.b64 [param0], %rd2;\ncall (%r1), vprintf, (param0, param0);\n}";
    check(ITEMS, print, &[(Printf, "calls `vprintf`")]);
    let own =
        ITEMS.replace("(.param .b64 a, .param .b64 b);", "(.param .b64 a, .param .b64 b) { ret; }");
    let own = own.replace(".extern", "");
    check(&own, print, &[(DeviceGlobals, "passes on the address of `$str`")]);
}

#[test]
fn a_scopes_own_name_is_not_the_variables() {
    reads("{\n.reg .b64 counter;\nmov.u64 counter, %rd1;\nst.global.u32 [counter], 1;\n}");
    let inner_then_outer =
        "{\n.reg .b64 counter;\nmov.u64 counter, %rd1;\n}\nst.global.u32 [counter], 1;";
    writes(inner_then_outer, "`counter`");
    let same_name_twice = "{\n.reg .b64 t;\nmov.u64 t, table;\nld.f32 %f1, [t];\n}\n{\n.reg .b64 t;\nmov.u64 t, %rd1;\nst.f32 [t], %f1;\n}";
    reads(same_name_twice);
}

#[test]
fn a_variable_of_a_function_lives_as_long_as_the_module() {
    let body = ".global .align 4 .u32 kept;\nst.global.u32 [kept], 1;";
    writes(body, "`kept`");
}

#[test]
fn more_addresses_than_can_be_followed_are_all_lost() {
    let names: Vec<String> = (0..300).map(|each| format!("v{each}")).collect();
    let items: String = names.iter().map(|name| format!(".global .u32 {name};\n")).collect();
    let body: String = names.iter().map(|name| format!("mov.u64 %rd1, {name};\n")).collect();
    let found = super::found(&items, &body);
    assert_eq!(found.len(), 300);
    assert_eq!(found[7].what, "passes on the address of `v7`");
}
