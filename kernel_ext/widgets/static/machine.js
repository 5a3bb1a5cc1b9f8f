// @ts-check
/**
 * A program of kernels in WebAssembly: one memory, modules that share it, and rows that run one after the other, as
 * `workbench/runtime/pages/program.py` writes them. It knows no page: a worker runs it, and so do tests.
 *
 * @typedef {[entry: number, params: number, total: number, grain: number, sums: number, fault: number]} Row
 * @typedef {{at: number, dtype: string, shape: number[], strides: number[], inner: number}} Place
 * @typedef {number | [kind: string, condition: number, main: any[], other: any[]]} Step a row, a branch or a loop
 * @typedef {{said: string, text: string, times: number[]}} Told
 * @typedef {{memory: number, stack: number, stop: number, chunks: [number, number][], modules: [number, string[], Record<string, number[]>][], rows: Row[], schedule: Step[],
 *   numbers: Record<string, [number, string][]>, counters: Record<string, [step: number, amount: number]>, arrays: Record<string, Place>, titles: string[],
 *   faults: Record<string, number[]>[], lines: number[], prints: [number, any[]][]}} Program
 */

const PAGE = 65536;
const LONGEST = 12; // milliseconds of work before others have their turn
const MOST_TEXT = 1 << 20; // letters of what kernels print that are kept
/** The relaxed multiply-add of float32 and float64, as long as a call: three bytes, and three that do nothing. */
const FUSED = { 32: [253, 133, 2, 1, 1, 1], 64: [253, 135, 2, 1, 1, 1] };
const ERFCX = [0.9739949793186762, 0.24101444861760662, 0.03917158019801934, 0.0028202013162589696, -0.0003190025880142985,
  -7.762458294633769e-05, 3.904758903066749e-06, 2.10650100538356e-06, -1.1719156145292982e-07, -6.458612977687303e-08,
  6.547928118976531e-09, 2.0176470623078224e-09, -3.982401175873017e-10, -4.9761436210290495e-11, 2.213944839159887e-11,
  -1.7358623528113927e-13, -1.026209787629388e-12, 1.4448991184132368e-13, 3.158980053643002e-14, -1.2428959971894012e-14,
  3.0295830930074995e-16, 6.422214347909852e-16, -1.3294242674635553e-16, -1.2796905792827282e-17, 1.0532288760211047e-17];

/** 1 - erf(x): the Maclaurin series of erf, or exp(-x²) t P(t) with t = 2 / (2 + x) and P in Chebyshev polynomials. @param {number} x */
function erfc(x) {
  if (Math.abs(x) < 0.5) {
    let [term, sum] = [x, x];
    for (let n = 1; n < 16; n++) sum += (term *= (-x * x) / n) / (2 * n + 1);
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  if (x < 0) return 2 - erfc(-x);
  if (!(x < 28)) return x > 0 ? 0 : NaN;
  const t = 2 / (2 + x);
  const u = (t - 0.4) / 0.4;
  let [one, two] = [0, 0];
  for (let k = ERFCX.length - 1; k > 0; k--) [one, two] = [2 * u * one - two + ERFCX[k], one];
  const p = u * one - two + ERFCX[0] / 2;
  const high = Math.round(x * 4096) / 4096; // its square is exact
  return Math.exp(-high * high) * Math.exp(-(x - high) * (x + high)) * t * p;
}

/** C's pow: 1 to any power, and -1 to an infinite one, are 1. @param {number} x @param {number} y */
const pow = (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y);

/** A float as a whole number and the power of two that it is multiplied by. @param {number} x @returns {[bigint, number]} */
function parts(x) {
  const bits = new BigUint64Array(new Float64Array([x]).buffer)[0];
  const [power, rest] = [Number((bits >> 52n) & 2047n), bits & 0xfffffffffffffn];
  const whole = power ? rest | 0x10000000000000n : rest;
  return [x < 0 ? -whole : whole, Math.max(power, 1) - 1075];
}

/**
 * x · y + z, rounded once: to a mantissa of so many bits, where the least number is 2 to the power `least`.
 * @param {number} x @param {number} y @param {number} z @param {number} bits @param {number} least
 */
function fma(x, y, z, bits, least) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return x * y + z;
  if (!Number.isFinite(z)) return z;
  if (!x || !y) return x * y + z;
  const [[a, m], [b, n], [c, p]] = [parts(x), parts(y), parts(z)];
  const power = Math.min(m + n, p);
  const exact = ((a * b) << BigInt(m + n - power)) + (c << BigInt(p - power));
  const whole = exact < 0n ? -exact : exact;
  const dropped = BigInt(Math.max(whole.toString(2).length - bits, least - power, 0));
  const rest = whole & ((1n << dropped) - 1n);
  const half = (1n << dropped) >> 1n;
  let kept = whole >> dropped;
  if (rest > half || (rest === half && dropped && kept & 1n)) kept += 1n;
  const [scale, first] = [power + Number(dropped), Math.max(power + Number(dropped), -1000)];
  const size = Number(kept) * 2 ** Math.min(first, 1000) * 2 ** Math.max(first - 1000, 0) * 2 ** (scale - first);
  return exact < 0n ? -size : size;
}

/** The C library's functions that modules ask for, of numbers of 64 bits; those of 32 bits are these, rounded. */
const MATHS = { erfc, pow, exp2: (/** @type {number} */ x) => 2 ** x, fmod: (/** @type {number} */ x, /** @type {number} */ y) => x % y };
for (const name of ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "hypot", "log",
  "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"]) MATHS[name] = Math[name];

/** Whether this browser has WebAssembly's vectors of 128 bits. */
export function hasVectors() {
  return typeof WebAssembly === "object" && WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1,
    123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]));
}

/** Whether this browser's relaxed multiply-add rounds once: (1 + 2⁻¹²)² - (1 + 2⁻¹¹) is 2⁻²⁴, or 0 if the product is rounded. */
export function hasFused() {
  const number = (/** @type {number[]} */ ...bits) => [67, ...bits, 253, 19];
  const code = [0, ...number(0, 8, 128, 63), ...number(0, 8, 128, 63), ...number(0, 16, 128, 191), ...FUSED[32].slice(0, 3), 253, 31, 0, 11];
  const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 125, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0,
    10, code.length + 2, 1, code.length, ...code]);
  if (!WebAssembly.validate(bytes)) return false;
  return /** @type {any} */ (new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports).f() !== 0;
}

/** A number of 16 bits. @param {number} bits @param {boolean} brain */
function half(bits, brain) {
  if (brain) return new Float32Array(new Uint32Array([bits << 16]).buffer)[0];
  const [sign, power, rest] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (power === 31) return rest ? NaN : sign * Infinity;
  return sign * (power ? 2 ** (power - 25) * (1024 + rest) : 2 ** -24 * rest);
}

const TYPES = { bool: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, float32: Float32Array, float64: Float64Array,
  float16: Uint16Array, bfloat16: Uint16Array };

/** The program, ready to run. @param {Program} program @param {Uint8Array} payload its chunks of memory and its modules
 * @param {boolean} fused put the relaxed multiply-add over the calls of the function that does without */
export async function openMachine(program, payload, fused = hasFused()) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(program.memory / PAGE) });
  const bytes = () => new Uint8Array(memory.buffer);
  let top = program.memory; // of what is in use: launches take memory above and give it back
  const take = (/** @type {number} */ count) => {
    const at = top;
    top += Math.ceil(count / 64) * 64;
    if (top > memory.buffer.byteLength) memory.grow(Math.ceil((top - memory.buffer.byteLength) / PAGE));
    return at;
  };
  const env = { __linear_memory: memory, malloc: (/** @type {bigint} */ count) => take(Number(count)), free: () => {},
    __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, program.stack),
    __indirect_function_table: new WebAssembly.Table({ initial: 1, element: "anyfunc" }) };
  for (const [name, of64] of Object.entries(MATHS)) env[name] = env[`${name}f`] = of64;
  env.fma = (/** @type {number[]} */ ...given) => fma(given[0], given[1], given[2], 53, -1074);
  env.fmaf = (/** @type {number[]} */ ...given) => fma(given[0], given[1], given[2], 24, -149);

  let read = 0;
  const next = (/** @type {number} */ size) => payload.subarray(read, (read += size));
  const chunks = program.chunks.map(([at, size]) => /** @type {const} */ ([at, next(size)]));
  /** @type {Function[]} */
  const entries = [];
  for (const [size, names, calls] of program.modules) {
    const image = next(size);
    if (fused) for (const bits in calls) for (const at of calls[bits]) image.set(FUSED[bits], at);
    const { instance } = await WebAssembly.instantiate(image, { env });
    for (const name of names) entries.push(/** @type {Function} */ (instance.exports[name]));
  }
  const rewind = () => {
    for (const [at, data] of chunks) bytes().set(data, at);
  };
  rewind();

  /** A number of a launch. @param {[number, string]} place */
  const numberAt = ([at, dtype]) => new TYPES[dtype](memory.buffer, at, 1);
  /** Numbers that advance with each run, in all their launches; as many bits as they have.
   * @type {{name: string, step: bigint, amount: bigint, places: [number, string][], from: bigint[]}[]} */
  const counters = Object.entries(program.counters ?? {}).map(([name, [step, amount]]) => {
    const places = program.numbers[name] ?? [];
    return { name, step: BigInt(step), amount: BigInt(amount), places, from: places.map((place) => BigInt(numberAt(place)[0])) };
  });
  const advance = () => {
    for (const one of counters) {
      one.amount += one.step;
      for (const [k, place] of one.places.entries()) {
        const sum = one.from[k] + one.amount;
        numberAt(place)[0] = place[1].endsWith("int64") ? sum : Number(sum);
      }
    }
  };

  /** A launch, as the native launcher runs one: strip by strip, then what strips left is combined. @param {Row} row */
  function* strips([entry, params, total, grain, sums, fault]) {
    const run = entries[entry];
    const floor = top;
    const count = sums && total > grain ? Math.ceil(total / grain) : 0;
    const words = count ? take(8 * count * sums) : 0;
    try {
      for (let begin = 0, k = 0; begin < total; begin += grain, k++) {
        const inner = top;
        run(params, BigInt(begin), BigInt(Math.min(total, begin + grain)), fault, program.stop, words && words + 8 * sums * k);
        top = inner;
        yield;
      }
      if (count) run(params, BigInt(count), 0n, fault, program.stop, words);
    } finally {
      top = floor;
    }
  }

  /** What a fault record says, or nothing. @param {number} k the row */
  const faultOf = (k) => {
    const at = program.rows[k][5];
    if (!at) return "";
    const words = new BigInt64Array(memory.buffer, at, 7);
    if (!words[0]) return "";
    const line = Object.entries(program.faults[program.lines[k]] ?? {}).find(([, numbers]) => numbers.includes(Number(words[1])))?.[0] ?? "";
    return `${program.titles[k]}: ${line} (thread ${words[2]}${words[0] > 1n ? `; ${words[0]} faults, this is the first` : ""})`;
  };

  /** What a kernel printed: whole lines in the order of threads. @param {number} at @param {any[]} prints by number, from 1 */
  const printed = (at, prints) => {
    const words = new DataView(memory.buffer);
    const end = at + 16 + Math.min(Number(words.getBigInt64(at, true)), 1 << 20);
    const dropped = words.getBigInt64(at + 8, true);
    /** @type {[bigint, string][]} */
    const lines = [];
    for (let p = at + 16; p + 16 <= end; ) {
      const found = prints[Number(words.getBigInt64(p, true)) - 1];
      if (!found) break;
      const thread = words.getBigInt64(p + 8, true);
      p += 16;
      const values = found.types.map((/** @type {[string, number]} */ [type, count]) => {
        const parts = Array.from({ length: count || 1 }, () => {
          const value = type.startsWith("float") || type === "bfloat16" ? words.getFloat64(p, true) : words.getBigInt64(p, true);
          p += 8;
          return value;
        });
        return { type, parts, wide: count > 0 };
      });
      lines.push([thread, found.parts.map((/** @type {any} */ part) => (typeof part === "string" ? part : shown(values.shift(), part[0]))).join("")]);
    }
    words.setBigInt64(at, 0n, true);
    words.setBigInt64(at + 8, 0n, true);
    lines.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    return lines.map(([, text]) => text).join("") + (dropped ? `… ${dropped} more prints found no room and were dropped\n` : "");
  };

  let halted = false;
  let due = 0;
  /** Lets others have their turn where it is time; whether to go on. */
  const goOn = async () => {
    if (performance.now() >= due) {
      await new Promise((go) => setTimeout(go));
      due = performance.now() + LONGEST;
    }
    return !halted;
  };
  /** Runs steps in turn; others have their turn in between.
   * @param {Step[]} steps @param {Told} told @returns {Promise<boolean>} whether all have run */
  const walk = async (steps, told) => {
    for (const step of steps) {
      if (typeof step === "number") {
        if (!(await runRow(step, told))) return false;
        continue;
      }
      const [kind, at, main, other] = step;
      const holds = () => !at || new DataView(memory.buffer).getInt32(at, true) !== 0;
      if (kind !== "while") {
        if (!(await walk(holds() ? main : other, told))) return false;
      } else {
        while (holds()) if (!(await goOn()) || !(await walk(main, told))) return stopped(told);
      }
    }
    return true;
  };
  const stopped = (/** @type {Told} */ told) => {
    told.said ||= "stopped: arrays are half written";
    return false;
  };
  /** @param {number} k @param {Told} told */
  const runRow = async (k, told) => {
    const started = performance.now();
    const row = program.rows[k];
    if (row[5]) bytes().fill(0, row[5], row[5] + 56);
    for (const _ of strips(row)) if (performance.now() >= due && !(await goOn())) return stopped(told);
    told.times[k] = performance.now() - started;
    told.said = faultOf(k);
    for (const [at, prints] of program.prints) told.text = (told.text + printed(at, prints)).slice(-MOST_TEXT);
    return !told.said;
  };
  /** Runs the schedule, or some of it, as often as asked. @param {Step[]} [steps] @param {number} [count]
   * @returns {Promise<Told>} what went wrong, what was printed, milliseconds by row of the last time */
  const run = async (steps = program.schedule, count = 1) => {
    /** @type {Told} */
    const told = { said: "", text: "", times: [] };
    halted = false;
    due = performance.now() + LONGEST;
    const once = () => {
      if (steps === program.schedule) advance();
      return walk(steps, told);
    };
    for (let k = 0; k < count && (await once()); k++) {
      if (performance.now() >= due && !(await goOn()) && !stopped(told)) break;
    }
    return told;
  };

  /** The numbers of an array, densely. @param {string} name */
  const readArray = (name) => {
    const place = program.arrays[name];
    if (!place) throw new Error(`there is no array ${name}; there is ${Object.keys(program.arrays).join(", ") || "none"}`);
    const { at, dtype, shape, strides, inner } = place;
    const all = new TYPES[dtype](memory.buffer, 0, Math.floor(memory.buffer.byteLength / TYPES[dtype].BYTES_PER_ELEMENT));
    const size = all.BYTES_PER_ELEMENT;
    const count = shape.reduce((a, b) => a * b, 1);
    const dense = strides.every((stride, axis) => stride === shape.slice(axis + 1).reduce((a, b) => a * b, inner * size));
    const out = dense ? all.slice(at / size, at / size + count * inner) : new TYPES[dtype](count * inner);
    for (let k = 0; k < count && !dense; k++) {
      let [from, rest] = [at, k];
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        from += (rest % shape[axis]) * strides[axis];
        rest = Math.floor(rest / shape[axis]);
      }
      for (let c = 0; c < inner; c++) out[k * inner + c] = all[from / size + c];
    }
    if (!dtype.endsWith("float16")) return out;
    return Float32Array.from(out, (bits) => half(Number(bits), dtype === "bfloat16"));
  };

  /** Another number for every launch that has the parameter. @param {string} name @param {number} value */
  const setNumber = (name, value) => {
    const places = program.numbers[name];
    if (!places) throw new Error(`there is no number ${name}; there is ${Object.keys(program.numbers).join(", ") || "none"}`);
    for (const place of places) numberAt(place)[0] = place[1].endsWith("int64") ? BigInt(Math.round(value)) : value;
    for (const one of counters) {
      // The next run has the number itself; it advances from there.
      if (one.name === name) [one.from, one.amount] = [places.map(() => BigInt(Math.round(value))), -one.step];
    }
  };

  return { run, rewind, read: readArray, set: setNumber, halt: () => void (halted = true), bytes };
}

/** A printed value: as Python shows it, or by one of C's formats. @param {any} value @param {string | null} format */
function shown({ type, parts, wide }, format) {
  const one = (/** @type {number | bigint} */ number) => {
    if (format) return formatted(Number(number), format);
    if (type === "bool") return number ? "True" : "False";
    if (typeof number === "bigint") return String(type === "uint64" ? BigInt.asUintN(64, number) : number);
    let text = String(number);
    if (type !== "float64") for (let k = 1; Math.fround(Number(text = String(Number(number.toPrecision(k))))) !== number && k < 9; k++);
    if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
    return /[.e]/.test(text) ? text.replace(/e([+-])(\d)$/, "e$10$2") : `${text}.0`;
  };
  return wide ? `[${parts.map(one).join(", ")}]` : one(parts[0]);
}

/** @param {number} number @param {string} format as `%8.3f` */
function formatted(number, format) {
  const [, flags, width, digits, kind] = /^%([-+ 0#]*)(\d*)(?:\.(\d+))?[hl]*(\w)$/.exec(format) ?? [];
  const most = digits === undefined ? 6 : Number(digits);
  let text = String(Math.trunc(number));
  if (kind === "f" || kind === "F") text = number.toFixed(most);
  else if (kind === "e" || kind === "E") text = number.toExponential(most).replace(/e([+-])(\d)$/, "e$10$2");
  else if (kind === "g" || kind === "G") text = String(Number(number.toPrecision(most || 1)));
  else if (kind === "x" || kind === "X") text = Math.trunc(number).toString(16);
  if (flags?.includes("+") && number >= 0) text = `+${text}`;
  const size = Number(width || 0);
  return flags?.includes("-") ? text.padEnd(size) : flags?.includes("0") ? text.padStart(size, "0") : text.padStart(size);
}
