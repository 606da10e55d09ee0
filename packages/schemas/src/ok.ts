import * as z from "zod/mini";
import { lazyObject, type Schema } from "./schema.ts";

export const OkShape = lazyObject(() => ({
  /** Always `true`. */
  ok: z.boolean(),
}));
/** It is done. */
export interface Ok extends z.output<typeof OkShape> {}
export const Ok: Schema<Ok> = OkShape;
