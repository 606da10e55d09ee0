import * as z from "zod/mini";
import { lazyObject } from "./schema.ts";

/** The operation succeeded. */
export interface Ok extends z.output<typeof Ok> {}
export const Ok = lazyObject(() => ({
  /** Always `true`. */
  ok: z.boolean(),
}));
