import * as z from "zod/mini";
import { lazyObject, type Schema } from "./schema.ts";

export const HealthShape = lazyObject(() => ({
  /** `ok` while the process answers. */
  status: z.string(),
  /** Version of the service. */
  version: z.string(),
}));
/** Whether the service's process is alive. */
export interface Health extends z.output<typeof HealthShape> {}
export const Health: Schema<Health> = HealthShape;

export const ReadinessShape = lazyObject(() => ({
  /** `ready` when every check passes. */
  status: z.string(),
  /** Each part that sessions need: `ok`, or what is wrong with it. */
  checks: z.record(z.string(), z.string()),
}));
/** Whether the service can take work. */
export interface Readiness extends z.output<typeof ReadinessShape> {}
export const Readiness: Schema<Readiness> = ReadinessShape;
