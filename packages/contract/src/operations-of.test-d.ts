import type { Endpoint } from "./base/endpoint.ts";
import type { Declared } from "./operations-of.ts";

interface Open extends Endpoint {
  readonly plane: "control";
  readonly auth: "none";
}
interface Keyed extends Endpoint {
  readonly plane: "control";
  readonly moves: readonly ["read files"];
}
interface Inside extends Endpoint {
  readonly plane: "instance";
  readonly moves: readonly ["read files"];
  readonly inSession: { readonly handoff: "stops"; readonly shared: true };
}

type Declarations = [
  Declared<{ open: Open; keyed: Keyed; inside: Inside }>,
  // @ts-expect-error An operation with a key says what it moves.
  Declared<{ keyed: Omit<Keyed, "moves"> }>,
  // @ts-expect-error An operation inside a session says what it is there.
  Declared<{ inside: Omit<Inside, "inSession"> }>,
  // @ts-expect-error The same with a policy of rights alone.
  Declared<{ open: Open; inside: Omit<Inside, "inSession"> }>,
];
({}) as Declarations satisfies unknown;
