import { cpus } from "node:os";

const windowMs = 500;

/** Measures the idle CPU of the machine, over windows of at least half a second. */
export class CpuIdle {
  #before = totals();
  #atMs = performance.now();
  #share = 1;

  /** 0 (busy) to 1 (idle). */
  idleShare(): number {
    const nowMs = performance.now();
    if (nowMs - this.#atMs < windowMs) return this.#share;
    const now = totals();
    const all = now.all - this.#before.all;
    if (all > 0) this.#share = (now.idle - this.#before.idle) / all;
    this.#before = now;
    this.#atMs = nowMs;
    return this.#share;
  }
}

function totals(): { readonly all: number; readonly idle: number } {
  let all = 0;
  let idle = 0;
  for (const { times } of cpus()) {
    all += times.user + times.nice + times.sys + times.idle + times.irq;
    idle += times.idle;
  }
  return { all, idle };
}
