import * as z from "zod/mini";
import { AppAction, deploymentRegions } from "./app.ts";
import { pageFields, Timestamp } from "../base/common.ts";
import { ErrorEvent, HeartbeatEvent, LogEvent, OptionalSince } from "../base/events.ts";
import { checked, lazyObject, openEnum, openUnion } from "../base/schema.ts";
import { checkedLater, exactlyOne, maxEntries, needs } from "../base/rules.ts";

const text = (maxLength: number) => checked(z.string(), z.minLength(1), z.maxLength(maxLength));

/** States of a deployment. */
export const deploymentStatuses = ["queued", "in_progress", "running", "failed", "stopped"] as const;

/** Uploaded sources of app versions, and the state of their deployment. */
export interface Deployment extends z.output<typeof Deployment> {}
export const Deployment = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** `queued` and `in_progress` continue; `running` can be invoked; `failed` and `stopped` are final. */
  status: openEnum(...deploymentStatuses),
  /** Reason for the status, if the service knows more. */
  status_reason: z.optional(z.string()),
  /** Where it runs. */
  region: openEnum(...deploymentRegions),
  /** The file that is started, relative to the root of the sources. */
  entrypoint_rel_path: z.optional(z.string()),
  /** Names of its environment variables; the values are empty, because they are secret. */
  env_vars: z.optional(z.record(z.string(), z.string())),
  /** Creation time. */
  created_at: Timestamp,
  /** Time of the last change; `null` or absent before the first one. */
  updated_at: z.optional(z.nullable(Timestamp)),
  /** Origin of the source code. */
  source_type: z.optional(openEnum("file", "github")),
  /** URL of the repository, for source code from a repository. */
  source_url: z.optional(z.string()),
  /** The requested branch, tag or commit. */
  source_ref: z.optional(z.string()),
  /** The directory of the repository that is the root of the sources. */
  source_path: z.optional(z.string()),
  /** SHA-256 of the archive that was uploaded or fetched, in hexadecimal digits. */
  source_checksum: z.optional(z.string()),
}));

/** A repository that sources are fetched from. */
export interface DeploymentSource extends z.input<typeof DeploymentSource> {}
export const DeploymentSource = lazyObject(() => ({
  /** Always `github`. */
  type: z.literal("github"),
  /** Address of the repository, without `/blob` and `/tree`, up to 2048 characters. */
  url: checked(
    text(2048),
    checkedLater({
      keywords: {
        pattern:
          "^https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?/[A-Za-z0-9_-][A-Za-z0-9_.-]*/[A-Za-z0-9_-][A-Za-z0-9_.-]*/?$",
      },
    }),
  ),
  /** Branch, tag or commit, up to 255 characters. */
  ref: text(255),
  /** Directory of the repository that is the root of the sources, up to 4096 characters; absent = the repository's own. */
  path: z.optional(checked(z.string(), z.maxLength(4096))),
  /** The file to start, relative to `path`, up to 4096 characters. */
  entrypoint: text(4096),
  /** Access to a private repository. */
  auth: z.optional(
    z.object({
      /** Always `github_token`. */
      method: z.literal("github_token"),
      /** A personal access token or an installation's token, up to 1024 characters. It is used once and not kept. */
      token: text(1024),
    }),
  ),
}));

/** Input of `deployments.create`. */
export interface CreateDeployment extends z.input<typeof CreateDeployment> {}
export const CreateDeployment = z.lazy(() =>
  checked(
    z.object({
      /** Label of the app versions that it creates, 1 to 255 characters. */
      version: z._default(text(255), "latest"),
      /** ZIP archive of the sources, with `package.json` or `pyproject.toml` at its root; needs `entrypoint_rel_path`. Pass either this or `source`. */
      file: z.optional(z.file()),
      /** The file to start, relative to the archive's root, up to 4096 characters. */
      entrypoint_rel_path: z.optional(text(4096)),
      /** A repository to fetch the sources from. Pass either this or `file`. */
      source: z.optional(DeploymentSource),
      /** Where to run it. */
      region: z._default(z.enum(deploymentRegions), "aws.us-east-1a"),
      /** Replace versions of the same label that exist already. */
      force: z._default(z.boolean(), false),
      /** Environment variables of the app, up to 100. */
      env_vars: z.optional(
        checked(
          z.record(checked(z.string(), z.minLength(1), z.maxLength(255)), checked(z.string(), z.maxLength(65_536))),
          maxEntries(100, "variables"),
        ),
      ),
    }),
    exactlyOne("file", "source"),
    needs("file", "entrypoint_rel_path"),
  ),
);

/** Input of `deployments.list`. */
export interface ListDeployments extends z.input<typeof ListDeployments> {}
export const ListDeployments = z.lazy(() =>
  checked(
    z.object({
      ...pageFields,
      /** Only deployments of this app. */
      app_name: z.optional(z.string()),
      /** Only deployments of this version of `app_name`. */
      app_version: z.optional(z.string()),
      /** Part of an app's name, case does not matter, or a whole id. */
      query: z.optional(z.string()),
    }),
    needs("app_version", "app_name"),
  ),
);

/** Query of `deployments.follow`. */
export interface FollowDeployment extends z.input<typeof FollowDeployment> {}
export const FollowDeployment = lazyObject(() => ({
  /** Where the log begins: a moment (ISO 8601), or how long ago (`5m`, `1h30m`). */
  since: z.optional(OptionalSince),
}));

/** The state of a deployment, sent at the start of the stream and at each change. */
export interface DeploymentStateEvent extends z.output<typeof DeploymentStateEvent> {}
export const DeploymentStateEvent = lazyObject(() => ({
  /** Always `deployment_state`. */
  event: z.literal("deployment_state"),
  /** The deployment as it is now. */
  deployment: Deployment,
  /** Time of this state. */
  timestamp: Timestamp,
}));

/** A version of an app. */
export interface AppVersionSummaryEvent extends z.output<typeof AppVersionSummaryEvent> {}
export const AppVersionSummaryEvent = lazyObject(() => ({
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
  /** Its actions. */
  actions: z.array(AppAction),
  /** Names of its environment variables, with empty values. */
  env_vars: z.optional(z.record(z.string(), z.string())),
  /** Creation time. */
  timestamp: Timestamp,
}));

/** An event of a deployment, identified by `event`. */
export type DeploymentEvent = LogEvent | DeploymentStateEvent | AppVersionSummaryEvent | ErrorEvent | HeartbeatEvent;
export const DeploymentEvent = z.lazy(() =>
  openUnion("event", {
    log: LogEvent,
    deployment_state: DeploymentStateEvent,
    app_version_summary: AppVersionSummaryEvent,
    error: ErrorEvent,
    sse_heartbeat: HeartbeatEvent,
  }),
);
