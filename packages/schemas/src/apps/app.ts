import * as z from "zod/mini";
import { pageFields } from "../base/common.ts";
import { lazyObject, openEnum } from "../base/schema.ts";

/** Where deployed apps run. */
export const deploymentRegions = ["aws.us-east-1a"] as const;

/** An action of a deployed app. */
export interface AppAction extends z.output<typeof AppAction> {}
export const AppAction = lazyObject(() => ({
  /** Name to invoke it by. */
  name: z.string(),
  /** JSON Schema (draft-07) of its payload; `null` if it cannot be derived. */
  input_schema: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  /** JSON Schema (draft-07) of its output; `null` if it cannot be derived. */
  output_schema: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
}));

/** A deployed version of an app. */
export interface AppVersion extends z.output<typeof AppVersion> {}
export const AppVersion = lazyObject(() => ({
  /** Identifier of this version of the app. */
  id: z.string(),
  /** The app's name. */
  app_name: z.string(),
  /** Label of the version. */
  version: z.string(),
  /** Where it runs. */
  region: openEnum(...deploymentRegions),
  /** Id of its deployment. */
  deployment: z.string(),
  /** Its actions. */
  actions: z.array(AppAction),
  /** Names of its environment variables; the values are empty, because they are secret. */
  env_vars: z.record(z.string(), z.string()),
}));

/** Input of `apps.list`. */
export interface ListApps extends z.input<typeof ListApps> {}
export const ListApps = lazyObject(() => ({
  ...pageFields,
  /** Versions of the app with this name only. */
  app_name: z.optional(z.string()),
  /** Versions with this label only. */
  version: z.optional(z.string()),
  /** Part of an app's name; case does not matter. */
  query: z.optional(z.string()),
}));
