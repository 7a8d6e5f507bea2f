import assert from "node:assert/strict";
import { Decoding } from "../../tests/harness/decoding.ts";
import { SAMPLES_PER_SECOND } from "../../lib/programs/detail.ts";
import { CodeMap } from "../process/code.ts";
import { life } from "../process/life.ts";
import { samples } from "./samples.ts";
import { readableName } from "../process/readable_name.ts";
import { DEQUANTISING, PRODUCTS, QUANTISING, WAITING, workOf } from "./work.ts";

const OPERATORS = ["NONE", "ADD", "ADD1", "RMS_NORM", "NORM", "MUL_MAT", "ROPE", "SOFT_MAX", "SCALE", "GET_ROWS", "UNARY", "GLU"];
const LIBRARY = "libggml-cpu-haswell.so";
const CODE = {
  fact: "code",
  pid: 100,
  ranges: [{ at: 0x9000, bytes: 0x1000, file: "libc.so.6" }, { at: 0x4000, bytes: 0x1000, file: LIBRARY }, { at: 0x6000, bytes: 0x100, file: "" }],
  functions: [{ at: 0x4200, bytes: 16, name: "ggml_compute_forward_rms_norm" }, { at: 0x4100, bytes: 32, name: "ggml_vec_dot_q4_0_q8_0" }],
} as const;

Deno.test("samples: an address is a function where one is known, else its file, and nothing is made up", () => {
  const d = new Decoding(samples);
  d.fact(0, { fact: "table", symbol: "GGML_OP_NAME", file: "libggml-base.so", names: OPERATORS });
  d.fact(0, CODE);
  for (const ip of [0x4100, 0x411f, 0x4200, 0x4120, 0x9001, 0x6010, 0x8000, -2128394905000]) d.event(1, "ggml/samples.sample", { ip }, "100/101");
  d.event(2, "ggml/samples.sample", { ip: 0x4100 }, "200");
  assert.deepEqual(d.end(9).map((line) => line.replace(/^\S+ ggml\.sample /, "")), [
    `"ggml_vec_dot_q4_0_q8_0" 1 work=${PRODUCTS} library=${LIBRARY}`,
    `"ggml_vec_dot_q4_0_q8_0" 1 work=${PRODUCTS} library=${LIBRARY}`,
    `"ggml_compute_forward_rms_norm" 1 work=RMS_NORM library=${LIBRARY}`,
    `"in ${LIBRARY}" 1 work=${LIBRARY} library=${LIBRARY}`,
    `"in libc.so.6" 1 work=libc.so.6 library=libc.so.6`,
    `"in code that is in no file" 1 work=code that is in no file library=code that is in no file`,
    `"unknown code" 1 work=unknown code library=`,
    `"kernel" 1 work=kernel library=kernel`,
    `"unknown code" 2 work=unknown code library=`,
  ]);
});

Deno.test("samples: a process that is forked has its parent's code, until it begins another program or ends", () => {
  const d = new Decoding(samples, life);
  const names = (pid: string) => {
    d.event(5, "ggml/samples.sample", { ip: 0x4100 }, pid);
    return d.told().map((line) => /"(.*?)"/.exec(line)![1]);
  };
  d.fact(0, CODE);
  d.event(1, "process/life.task", { id: 101, isThread: 1 }, "100");
  d.event(1, "process/life.task", { id: 200 }, "100");
  d.event(2, "process/life.exit", {}, "100/101");
  assert.deepEqual([names("100"), names("200"), names("101")], [["ggml_vec_dot_q4_0_q8_0"], ["ggml_vec_dot_q4_0_q8_0"], ["unknown code"]]);
  d.event(6, "process/life.exec", { file: "sh" }, "200");
  d.event(6, "process/life.exit", {}, "100/100");
  assert.deepEqual([names("100"), names("200")], [["unknown code"], ["unknown code"]]);
});

Deno.test("samples: a process that goes on without its first thread has its code until the last one ends", () => {
  const d = new Decoding(samples, life);
  const nameAt = (at: number) => {
    d.event(at, "ggml/samples.sample", { ip: 0x4100 }, "100/102");
    return /"(.*?)"/.exec(d.told()[0]!)![1];
  };
  d.fact(0, CODE);
  // Two others go on, and then one; none, in the end.
  d.event(1, "process/life.exit", { code: 2 ** 17 }, "100/100");
  assert.equal(nameAt(2), "ggml_vec_dot_q4_0_q8_0");
  d.event(3, "process/life.exit", { code: 2 ** 17 }, "100/101");
  assert.equal(nameAt(4), "ggml_vec_dot_q4_0_q8_0");
  d.event(5, "process/life.exit", { code: 0 }, "100/102");
  assert.equal(nameAt(6), "unknown code");
});

Deno.test("samples: who is in OpenMP's library waits, whatever copy of it that is", () => {
  for (const file of ["libgomp.so.1", "libgomp-a34b3233.so.1.0.0"]) {
    const decoding = new Decoding(samples);
    decoding.fact(0, { fact: "code", pid: 100, ranges: [{ at: 4096, bytes: 16, file }], functions: [] });
    decoding.event(1, "ggml/samples.sample", { ip: 4096 });
    assert.match(decoding.told()[0]!, new RegExp(`work=${WAITING}`));
  }
});

Deno.test("samples: the template's rate is the one that figures are made with", () => {
  assert.ok(samples.template.includes(`profile:hz:${SAMPLES_PER_SECOND} `));
});

Deno.test("samples: a function ends where its size ends", () => {
  const map = new CodeMap(CODE);
  assert.deepEqual(map.find(0x40ff), { file: LIBRARY, name: null });
  assert.deepEqual(map.find(0x4100), { file: LIBRARY, name: "ggml_vec_dot_q4_0_q8_0" });
  assert.deepEqual(map.find(0x4120), { file: LIBRARY, name: null });
  assert.equal(map.find(0x3fff), null);
  assert.equal(map.find(0x5000), null);
});

Deno.test("samples: what a function works on, by its name", () => {
  const works = {
    ggml_compute_forward_rms_norm: "RMS_NORM",
    ggml_compute_forward_norm: "NORM",
    ggml_compute_forward_add: "ADD",
    ggml_compute_forward_add1: "ADD1",
    ggml_compute_forward_soft_max: "SOFT_MAX",
    ggml_vec_soft_max_f32: "SOFT_MAX",
    ggml_compute_forward_get_rows: "GET_ROWS",
    _ZL30ggml_compute_forward_rope_fltIfEvPK19ggml_compute_paramsP11ggml_tensorb: "ROPE",
    _ZL15apply_binary_opIXadL_ZL6op_addffEEfffEvPK19ggml_compute_paramsP11ggml_tensor: "ADD",
    ggml_vec_swiglu_f32: "GLU",
    ggml_vec_silu_f32: "UNARY",
    ggml_vec_dot_q4_0_q8_0: PRODUCTS,
    ggml_gemv_q4_0_8x8_q8_0: PRODUCTS,
    llamafile_sgemm: PRODUCTS,
    ggml_compute_forward_mul_mat: PRODUCTS,
    kai_run_matmul_clamp_f32_qsi8d32p1x8_qsi4c32p4x8_1x4x32_neon_dotprod: PRODUCTS,
    quantize_row_q8_0: QUANTISING,
    ggml_quantize_mat_q8_0_4x8: QUANTISING,
    kai_run_lhs_quant_pack_qsi8d32p_f32_neon: QUANTISING,
    dequantize_row_q8_0: DEQUANTISING,
    ggml_compute_forward_add_non_quantized: "ADD",
    ggml_barrier: WAITING,
    ggml_threadpool_new: null,
    ggml_compute_forward_added_later: null,
  };
  for (const [name, work] of Object.entries(works)) assert.equal(workOf(name, OPERATORS), work, name);
});

Deno.test("samples: names of C++ are read as far as they are simple", () => {
  const readable = {
    ggml_vec_dot_f16: "ggml_vec_dot_f16",
    _Z28gemv_q4_b32_8x8_q8_0_lut_avxPfmPKv: "gemv_q4_b32_8x8_q8_0_lut_avx",
    _ZL29ggml_compute_forward_rope_fltPK19ggml_compute_paramsP11ggml_tensorb: "ggml_compute_forward_rope_flt",
    _ZN4ggml3cpu6repack4gemvI10block_q4_0Ll8ELl8EL9ggml_type8EEEviPfmPKvS7_ii: "ggml::cpu::repack::gemv<…>",
    _ZNK4ggml3cpu6buffer4sizeEv: "ggml::cpu::buffer::size",
    _ZdlPv: "_ZdlPv",
    _Z9: "_Z9",
  };
  for (const [name, read] of Object.entries(readable)) assert.equal(readableName(name), read, name);
});
