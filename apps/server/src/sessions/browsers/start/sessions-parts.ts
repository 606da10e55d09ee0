import type { Placement } from "@shoal/placement";
import type { LiveFieldsReader } from "../../../cluster/live-fields.ts";
import type { ProjectLookup } from "../../../http/auth/project-lookup.ts";
import type { Log } from "../../../log/log.ts";
import type { BotIdentities } from "../../../resources/bot-identity/bot-identities.ts";
import type { Extensions } from "../../../resources/extensions/extensions.ts";
import type { SessionFiles } from "../../../storage/session-files/session-files.ts";
import type { UsageMeter } from "../../../usage/usage-meter.ts";
import type { DownloadStore } from "../../downloads/download-store.ts";
import type { ReplayStore } from "../../replays/replay-store.ts";
import type { SignInBrowsers } from "../../live-view/sign-in-browsers.ts";
import type { SnapshotStore } from "../../snapshots/snapshot-store.ts";
import type { TelemetryExports } from "../../telemetry/export/exports.ts";
import type { TelemetryStore } from "../../telemetry/telemetry-store.ts";
import type { SessionProfiles } from "../session-profiles.ts";
import type { SessionRules, SessionRunnerParts } from "../session-runner.ts";
import type { SessionStore } from "../session-store.ts";
import type { SessionUpdatesParts } from "../update-session.ts";
import type { ChosenObjects } from "./session-choices.ts";

export interface SessionsParts extends ChosenObjects {
  readonly store: SessionStore;
  readonly placement: Placement;
  readonly profiles: SessionProfiles;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteFork" | "noteTyped" | "typedIn">;
  readonly snapshots: Pick<SnapshotStore, "add" | "find" | "reserve">;
  readonly handoffs: SessionRunnerParts["handoffs"] & SessionUpdatesParts["handoffs"];
  readonly projects: Pick<ProjectLookup, "find">;
  readonly botIdentities: Pick<BotIdentities, "signerOf">;
  readonly extensions: Pick<Extensions, "choose" | "open">;
  readonly serverId: string;
  readonly region: string;
  readonly rules: SessionRules;
  readonly telemetry: TelemetryStore;
  readonly exports: Pick<TelemetryExports, "open" | "settled">;
  readonly downloads: Pick<DownloadStore, "finish" | "keep" | "keepsAny">;
  readonly replays: Pick<ReplayStore, "admit" | "finish" | "keep" | "noteStop" | "wasRecorded">;
  readonly files: Pick<SessionFiles, "hasAny">;
  readonly onFiles: (sessionId: string) => void;
  readonly usage: Pick<UsageMeter, "follow">;
  readonly others: LiveFieldsReader;
  readonly isPeer: (serverId: string) => boolean;
  /** True while the other servers may have declared this server dead. */
  readonly isDoubtful: () => boolean;
  readonly log: Log;
}
