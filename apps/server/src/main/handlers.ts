import type { browserReplays, contract } from "@shoal/contract";
import type { HandlersOrNotYet } from "@shoal/router";
import type { Access, OpenCaller } from "../http/auth/access.ts";
import type { KeyedPlane, NotImplemented, OpenPlane } from "../http/not-implemented.ts";
import type { Feature } from "../host/feature.ts";
import type { OpenedFeatures } from "./features.ts";

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The handlers of every feature. */
type Given<Field extends "handlers" | "openHandlers", Features = OpenedFeatures["features"]> = Intersection<
  { [Name in keyof Features]: Features[Name] extends Readonly<Record<Field, infer Own>> ? Own : never }[keyof Features]
>;

/** Compiles only if a feature answers each operation with a key. */
export function keyedHandlers(features: readonly Feature[]) {
  return merged(features, "handlers") as Given<"handlers"> satisfies HandlersOrNotYet<
    Omit<KeyedPlane<typeof contract>, keyof typeof browserReplays>,
    Extract<NotImplemented, keyof KeyedPlane<typeof contract>>,
    Access
  >;
}

/** The same for operations without authentication. */
export function openHandlers(features: readonly Feature[]) {
  return merged(features, "openHandlers") as Given<"openHandlers"> satisfies HandlersOrNotYet<
    OpenPlane<typeof contract>,
    Extract<NotImplemented, keyof OpenPlane<typeof contract>>,
    OpenCaller
  >;
}

function merged(features: readonly Feature[], field: "handlers" | "openHandlers"): object {
  return Object.assign({}, ...features.map((feature) => feature[field])) as object;
}
