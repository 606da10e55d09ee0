import * as z from "zod/mini";
import { lazyObject, type Schema } from "./schema.ts";

export const CallFrameShape = lazyObject(() => ({
  /** Empty of a function without a name. */
  functionName: z.string(),
  /** CDP's name for the script. */
  scriptId: z.string(),
  /** Address of the script. */
  url: z.string(),
  /** From 0. */
  lineNumber: z.int(),
  /** From 0. */
  columnNumber: z.int(),
}));
/** One call of a stack; the names are CDP's own. */
export interface CallFrame extends z.output<typeof CallFrameShape> {}
export const CallFrame: Schema<CallFrame> = CallFrameShape;

export const CallStackShape = lazyObject(() => ({
  /** What joins it to its parent: `Promise.then`. */
  description: z.optional(z.string()),
  /** The calls, innermost first. */
  callFrames: z.array(CallFrameShape),
  /** The calls that led to an asynchronous one. */
  get parent(): z.ZodMiniOptional<Schema<CallStack>> {
    return z.optional(CallStack);
  },
}));
/** The calls that led to a place in a script. */
export interface CallStack extends z.output<typeof CallStackShape> {}
export const CallStack: Schema<CallStack> = CallStackShape;
