import type { Contract, contract } from "@shoal/contract";

/** Operations that are answered beside the browser. */
export type InstancePlane<C extends Contract> = {
  readonly [Name in keyof C as C[Name] extends { readonly plane: "instance" } ? Name : never]: C[Name];
};

/**
 * Operations of the instance's plane that have no handler yet, sorted: the control plane answers 501 for them and forwards nothing. An
 * operation that stands neither here nor among the handlers is a compile error of operations.ts, and so is one that stands in both.
 */
export const notImplemented = [] as const satisfies readonly (keyof InstancePlane<typeof contract>)[];

/** Name of an operation of {@link notImplemented}. */
export type NotImplemented = (typeof notImplemented)[number];
