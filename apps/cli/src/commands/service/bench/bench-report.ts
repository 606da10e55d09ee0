import type { Memory, Remains } from "../../../bench/remains.ts";
import type { Comparison } from "../../../bench/types.ts";

/** The result of `shoal bench`, as JSON. */
export interface BenchReport extends Comparison {
  readonly machine: {
    readonly cores: number;
    readonly memory_bytes: number;
    readonly node: string;
    readonly platform: string;
    /** Of the last minute, at the start. */
    readonly load_average: number;
    /** `null` where no Chromium was found. */
    readonly chromium: string | null;
  };
  readonly service: { readonly base_url: string; readonly started: boolean };
  readonly memory: Memory | null;
  readonly remains: Remains;
}
