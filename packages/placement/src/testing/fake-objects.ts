import { parseAllDocuments } from "yaml";
import { readFileSync } from "node:fs";

export interface FakeObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    resourceVersion?: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    ownerReferences?: readonly object[];
  };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

type Manifest = FakeObject & { readonly rules?: readonly Rule[] };

function readManifests(name: string): readonly Manifest[] {
  const text = readFileSync(new URL(`../../../../docs/service/${name}`, import.meta.url), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

export const manifests = readManifests("kubernetes.yaml");
export const claimManifests = readManifests("kubernetes-claims.yaml");

/** The documented object of a kind. */
export function manifestOf(kind: string, among: readonly Manifest[] = manifests): Manifest {
  const found = among.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`docs/service has no ${kind}.`);
  return found;
}

/** Whether an object has the labels of a selector. */
export function fits({ metadata }: FakeObject, selector: string): boolean {
  return selector
    .split(",")
    .filter((term) => term !== "")
    .every((term) => {
      const [, name = "", sign, value] = /^([^!=]+)(!?=)(.*)$/.exec(term) ?? [];
      if (sign === undefined) return metadata.labels?.[term] !== undefined;
      return ((metadata.labels?.[name] ?? "") === value) === (sign === "=");
    });
}

/** A merge patch. */
export function merged(old: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const entries = Object.entries(patch).map(([name, value]) => [name, merged(Reflect.get(Object(old), name), value)]);
  return { ...(old as object | undefined), ...Object.fromEntries(entries) };
}
