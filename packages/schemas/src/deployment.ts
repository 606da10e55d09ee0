import * as z from "zod/mini";
import { AppAction, deploymentRegions } from "./app.ts";
import { pageFields, Timestamp } from "./common.ts";
import { ErrorEventShape, HeartbeatEventShape, LogEventShape, Since, type ErrorEvent, type HeartbeatEvent, type LogEvent } from "./events.ts";
import { checked, lazyObject, openEnum, openUnion, type Schema } from "./schema.ts";

const text = (maxLength: number) => checked(z.string(), z.minLength(1), z.maxLength(maxLength));

/** States of a deployment. */
export const deploymentStatuses = ["queued", "in_progress", "running", "failed", "stopped"] as const;

export const DeploymentShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** `queued` and `in_progress` go on; `running` can be invoked; `failed` and `stopped` are final. */
  status: openEnum(...deploymentStatuses),
  /** Why it is in that state, where there is more to say. */
  status_reason: z.optional(z.string()),
  /** Where it runs. */
  region: openEnum(...deploymentRegions),
  /** The file that is started, relative to the root of the sources. */
  entrypoint_rel_path: z.optional(z.string()),
  /** Names of its environment variables; the values are empty, because they are secret. */
  env_vars: z.optional(z.record(z.string(), z.string())),
  /** When it was made. */
  created_at: Timestamp,
  /** When it last changed; `null` or absent while it did not. */
  updated_at: z.optional(z.nullable(Timestamp)),
  /** Where the sources came from. */
  source_type: z.optional(openEnum("file", "github")),
  /** Address of the repository, where they came from one. */
  source_url: z.optional(z.string()),
  /** The branch, tag or commit that was asked for. */
  source_ref: z.optional(z.string()),
  /** The directory of the repository that is the root of the sources. */
  source_path: z.optional(z.string()),
  /** SHA-256 of the archive that was uploaded or fetched, in hexadecimal digits. */
  source_checksum: z.optional(z.string()),
}));
/** Sources that were handed in to become versions of apps, and what became of them. */
export interface Deployment extends z.output<typeof DeploymentShape> {}
export const Deployment: Schema<Deployment> = DeploymentShape;

export const DeploymentSourceShape = lazyObject(() => ({
  /** Always `github`. */
  type: z.enum(["github"]),
  /** Address of the repository, without `/blob` and `/tree`, up to 2048 characters. */
  url: text(2048),
  /** Branch, tag or commit, up to 255 characters. */
  ref: text(255),
  /** Directory of the repository that is the root of the sources, up to 4096 characters; absent = the repository's own. */
  path: z.optional(checked(z.string(), z.maxLength(4096))),
  /** The file to start, relative to `path`, up to 4096 characters. */
  entrypoint: text(4096),
  /** What opens a private repository. */
  auth: z.optional(
    z.object({
      /** Always `github_token`. */
      method: z.enum(["github_token"]),
      /** A personal access token or an installation's token, up to 1024 characters. It is used once and not kept. */
      token: text(1024),
    }),
  ),
}));
/** A repository that sources are fetched from. */
export interface DeploymentSource extends z.input<typeof DeploymentSourceShape> {}
export const DeploymentSource: Schema<z.output<typeof DeploymentSourceShape>, DeploymentSource> = DeploymentSourceShape;

export const CreateDeploymentShape = z.lazy(() =>
  checked(
    z.object({
      /** Label of the app versions that it makes, 1 to 255 characters. */
      version: z._default(text(255), "latest"),
      /** ZIP archive of the sources, with `package.json` or `pyproject.toml` at its root; needs `entrypoint_rel_path`. Give this or `source`. */
      file: z.optional(z.file()),
      /** The file to start, relative to the archive's root, up to 4096 characters. */
      entrypoint_rel_path: z.optional(text(4096)),
      /** A repository to fetch the sources from. Give this or `file`. */
      source: z.optional(DeploymentSource),
      /** Where to run it. */
      region: z._default(z.enum(deploymentRegions), "aws.us-east-1a"),
      /** Replace versions of the same label that exist already. */
      force: z._default(z.boolean(), false),
      /** Environment variables of the app, up to 100. */
      env_vars: z.optional(
        checked(
          z.record(checked(z.string(), z.minLength(1), z.maxLength(255)), checked(z.string(), z.maxLength(65_536))),
          z.refine((variables) => Object.keys(variables).length <= 100, "at most 100 variables"),
        ),
      ),
    }),
    z.refine(({ file, source }) => (file === undefined) !== (source === undefined), "give exactly one of file and source"),
    z.refine(({ file, entrypoint_rel_path }) => file === undefined || entrypoint_rel_path !== undefined, "file needs entrypoint_rel_path"),
  ),
);
/** What `deployments.create` takes. */
export interface CreateDeployment extends z.input<typeof CreateDeploymentShape> {}
export const CreateDeployment: Schema<z.output<typeof CreateDeploymentShape>, CreateDeployment> = CreateDeploymentShape;

export const ListDeploymentsShape = z.lazy(() =>
  checked(
    z.object({
      ...pageFields,
      /** Deployments that made versions of this app only. */
      app_name: z.optional(z.string()),
      /** Deployments that made this version of `app_name` only. */
      app_version: z.optional(z.string()),
      /** Part of an app's name, case does not matter, or a whole id. */
      query: z.optional(z.string()),
    }),
    z.refine(({ app_name, app_version }) => app_version === undefined || app_name !== undefined, "app_version needs app_name"),
  ),
);
/** What `deployments.list` takes. */
export interface ListDeployments extends z.input<typeof ListDeploymentsShape> {}
export const ListDeployments: Schema<z.output<typeof ListDeploymentsShape>, ListDeployments> = ListDeploymentsShape;

export const FollowDeploymentShape = lazyObject(() => ({
  /** Where the log begins: a moment (ISO 8601), or how long ago (`5m`, `1h30m`). */
  since: z.optional(Since),
}));
/** What `deployments.follow` takes beside the id. */
export interface FollowDeployment extends z.input<typeof FollowDeploymentShape> {}
export const FollowDeployment: Schema<z.output<typeof FollowDeploymentShape>, FollowDeployment> = FollowDeploymentShape;

export const DeploymentStateEventShape = lazyObject(() => ({
  /** Always `deployment_state`. */
  event: z.literal("deployment_state"),
  /** The deployment as it is now. */
  deployment: Deployment,
  /** When it got so. */
  timestamp: Timestamp,
}));
/** A deployment's state, when it changes and when a reader comes. */
export interface DeploymentStateEvent extends z.output<typeof DeploymentStateEventShape> {}
export const DeploymentStateEvent: Schema<DeploymentStateEvent> = DeploymentStateEventShape;

export const AppVersionSummaryEventShape = lazyObject(() => ({
  /** Always `app_version_summary`. */
  event: z.literal("app_version_summary"),
  /** Identifier of the version. */
  id: z.string(),
  /** The app's name. */
  app_name: z.string(),
  /** Label of the version. */
  version: z.string(),
  /** Where it runs. */
  region: openEnum(...deploymentRegions),
  /** What it can be asked to do. */
  actions: z.array(AppAction),
  /** Names of its environment variables, with empty values. */
  env_vars: z.optional(z.record(z.string(), z.string())),
  /** When it was made. */
  timestamp: Timestamp,
}));
/** A version of an app that a deployment has made. */
export interface AppVersionSummaryEvent extends z.output<typeof AppVersionSummaryEventShape> {}
export const AppVersionSummaryEvent: Schema<AppVersionSummaryEvent> = AppVersionSummaryEventShape;

export const DeploymentEventShape = z.lazy(() =>
  openUnion("event", {
    log: LogEventShape,
    deployment_state: DeploymentStateEventShape,
    app_version_summary: AppVersionSummaryEventShape,
    error: ErrorEventShape,
    sse_heartbeat: HeartbeatEventShape,
  }),
);
/** What is heard of a deployment, by its `event`. */
export type DeploymentEvent = LogEvent | DeploymentStateEvent | AppVersionSummaryEvent | ErrorEvent | HeartbeatEvent;
export const DeploymentEvent: Schema<DeploymentEvent> = DeploymentEventShape;
