import * as z from "zod/mini";
import { lazyObject, type Schema } from "../base/schema.ts";

/** One call of a stack; the names are CDP's own. */
export interface CallFrame extends z.output<typeof CallFrame> {}
export const CallFrame = lazyObject(() => ({
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

/** The calls that led to a place in a script. */
export interface CallStack extends z.output<typeof CallStack> {}
export const CallStack = lazyObject(() => ({
  /** How it joins its parent: `Promise.then`. */
  description: z.optional(z.string()),
  /** The calls, innermost first. */
  callFrames: z.array(CallFrame),
  /** The calls that led to an asynchronous one. */
  get parent(): z.ZodMiniOptional<Schema<CallStack>> {
    return z.optional(CallStack);
  },
}));
