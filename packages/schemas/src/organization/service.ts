import * as z from "zod/mini";
import { lazyObject } from "../base/schema.ts";

/** Whether the service's process is alive. */
export interface Health extends z.output<typeof Health> {}
export const Health = lazyObject(() => ({
  /** `ok` while the process answers. */
  status: z.string(),
  /** Version of the service. */
  version: z.string(),
}));

/** Whether the service can take work. */
export interface Readiness extends z.output<typeof Readiness> {}
export const Readiness = lazyObject(() => ({
  /** `ready` when every check passes. */
  status: z.string(),
  /** Each part that sessions need: `ok`, or the problem. */
  checks: z.record(z.string(), z.string()),
}));
