import type { Endpoint } from "./base/endpoint.ts";
import type * as operations from "./operations.ts";

/** An operation with its whole policy: what it moves if it needs a key, and what it is inside a session. */
type WithPolicy = (Pick<Required<Endpoint>, "moves"> | { readonly auth: "none" }) &
  ({ readonly plane: "control" } | Pick<Required<Endpoint>, "inSession">);

/** Does not compile while an operation has no policy. */
export type Declared<T extends Readonly<Record<string, WithPolicy>>> = T;

type Operations = Declared<typeof operations>;
type ResourceIn<Id, Parent extends string = ""> = Id extends `${infer First}.${infer Rest}`
  ? Rest extends `${string}.${string}`
    ? ResourceIn<Rest, `${Parent}${First}.`>
    : `${Parent}${First}`
  : never;

/** A resource of the client: `proxies` has `proxies.create`, `browsers.fs.watch` has `browsers.fs.watch.start`. */
export type ResourceName = ResourceIn<Operations[keyof Operations]["operationId"]>;

/** The operations of resources, by the names of their declarations: `Handlers<OperationsOf<"proxies">>`. */
export type OperationsOf<Resource extends ResourceName> = {
  readonly [
    Name in keyof Operations as ResourceIn<Operations[Name]["operationId"]> extends Resource ? Name : never
  ]: Operations[Name];
};

/** The operations of resources that the service answers itself. */
export type ControlOperationsOf<Resource extends ResourceName> = {
  readonly [
    Name in keyof OperationsOf<Resource> as OperationsOf<Resource>[Name] extends { readonly plane: "control" }
      ? Name
      : never
  ]: OperationsOf<Resource>[Name];
};
