import * as z from "zod/mini";
import { pageFields } from "./common.ts";
import { lazyObject, openEnum, type Schema } from "./schema.ts";

/** Where deployed apps run. */
export const deploymentRegions = ["aws.us-east-1a"] as const;

export const AppActionShape = lazyObject(() => ({
  /** What it is invoked by. */
  name: z.string(),
  /** JSON Schema (draft-07) of its payload; `null` when none could be made. */
  input_schema: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  /** JSON Schema (draft-07) of its output; `null` when none could be made. */
  output_schema: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
}));
/** Something that a deployed app can be asked to do. */
export interface AppAction extends z.output<typeof AppActionShape> {}
export const AppAction: Schema<AppAction> = AppActionShape;

export const AppVersionShape = lazyObject(() => ({
  /** Identifier of this version of the app. */
  id: z.string(),
  /** The app's name. */
  app_name: z.string(),
  /** Label of the version. */
  version: z.string(),
  /** Where it runs. */
  region: openEnum(...deploymentRegions),
  /** Id of the deployment that made it. */
  deployment: z.string(),
  /** What it can be asked to do. */
  actions: z.array(AppAction),
  /** Names of its environment variables; the values are empty, because they are secret. */
  env_vars: z.record(z.string(), z.string()),
}));
/** A deployed version of an app. */
export interface AppVersion extends z.output<typeof AppVersionShape> {}
export const AppVersion: Schema<AppVersion> = AppVersionShape;

export const ListAppsShape = lazyObject(() => ({
  ...pageFields,
  /** Versions of the app with this name only. */
  app_name: z.optional(z.string()),
  /** Versions with this label only. */
  version: z.optional(z.string()),
  /** Part of an app's name; case does not matter. */
  query: z.optional(z.string()),
}));
/** What `apps.list` takes. */
export interface ListApps extends z.input<typeof ListAppsShape> {}
export const ListApps: Schema<z.output<typeof ListAppsShape>, ListApps> = ListAppsShape;
