import type { Contract, contract } from "@shoal/contract";

export type InstancePlane<C extends Contract> = {
  readonly [Name in keyof C as C[Name] extends { readonly plane: "instance" } ? Name : never]: C[Name];
};

/** Operations without a handler, answered with 501. An operation neither here nor in operations.ts does not compile. */
export const notImplemented = [] as const satisfies readonly (keyof InstancePlane<typeof contract>)[];

export type NotImplemented = (typeof notImplemented)[number];
