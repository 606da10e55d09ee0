import type { Contract, contract } from "@shoal/contract";

export type KeyedPlane<C extends Contract> = {
  readonly [
    Name in keyof C as C[Name] extends { readonly plane: "control" }
      ? C[Name] extends { readonly auth: "none" }
        ? never
        : Name
      : never
  ]: C[Name];
};

export type OpenPlane<C extends Contract> = {
  readonly [
    Name in keyof C as C[Name] extends { readonly auth: "none"; readonly path: infer Path }
      ? Path extends "/openapi.json"
        ? never
        : Name
      : never
  ]: C[Name];
};

/** Answered with 501 after authentication. app.ts compiles only if each operation is in this list or has a handler. */
export const notImplemented = [] as const satisfies readonly (
  keyof KeyedPlane<typeof contract> | keyof OpenPlane<typeof contract>
)[];

export type NotImplemented = (typeof notImplemented)[number];
