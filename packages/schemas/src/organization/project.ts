import * as z from "zod/mini";
import { pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum, type Schema } from "../base/schema.ts";
import { NetworkRules, UpdateNetworkRules } from "../base/network-rules.ts";
import { DefaultTelemetry, defaultTelemetryParts, EvidenceDefaults } from "../base/default-telemetry.ts";

/** 1 to 255 characters, counted as people see them (code points), none of them a control character; not `.` or `..`. */
const ProjectName: Schema<string> = z.lazy(() =>
  checked(
    z.string(),
    z.regex(
      // oxlint-disable-next-line no-control-regex -- they are what it refuses
      /^(?:[^\x00-\x1f\x7f-\x9f.][^\x00-\x1f\x7f-\x9f]{0,254}|\.[^\x00-\x1f\x7f-\x9f.][^\x00-\x1f\x7f-\x9f]{0,253}|\.\.[^\x00-\x1f\x7f-\x9f]{1,253})$/u,
      '1 to 255 characters, none of them a control character, and not "." or ".."',
    ),
  ),
);

/** A part of the organisation with its own browsers, profiles, keys and limits. */
export interface Project extends z.output<typeof Project> {}
export const Project = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the organisation. */
  name: z.string(),
  /** `active` or `archived`. Nothing new can be created in an archived project. */
  status: openEnum("active", "archived"),
  /** Hosts that its sessions may reach; sessions can only narrow it. Absent without rules. */
  network: z.optional(NetworkRules),
  /** What telemetry of its sessions captures unless a session or its pool says otherwise: categories, or `off`. Absent = `service_defaults`. Specific to Shoal. */
  default_telemetry: z.optional(z.array(openEnum(...defaultTelemetryParts))),
  /** Whether its sessions are recorded as a video from their start. Absent = `service_defaults`. Specific to Shoal. */
  default_recording: z.optional(z.boolean()),
  /** The settings of the service that apply where the project has none. Specific to Shoal. */
  service_defaults: z.optional(EvidenceDefaults),
  /** Creation time. */
  created_at: Timestamp,
  /** When its name, status, network rules or defaults last changed. */
  updated_at: Timestamp,
}));

/** Input of `projects.create`. */
export interface CreateProject extends z.input<typeof CreateProject> {}
export const CreateProject = lazyObject(() => ({
  /** Unique in the organisation, 1 to 255 characters. */
  name: ProjectName,
  /** Hosts that its sessions may reach; sessions can only narrow it. */
  network: z.optional(NetworkRules),
  /** What telemetry of its sessions captures unless a session or its pool says otherwise: categories, or `off`. The service's `default_telemetry` when absent. Specific to Shoal. */
  default_telemetry: z.optional(DefaultTelemetry),
  /** Whether its sessions are recorded as a video from their start. The service's `default_recording` when absent. Specific to Shoal. */
  default_recording: z.optional(z.boolean()),
}));

/** Input of `projects.update`. */
export interface UpdateProject extends z.input<typeof UpdateProject> {}
export const UpdateProject = lazyObject(() => ({
  /** The new name, unique in the organisation, 1 to 255 characters. */
  name: z.optional(ProjectName),
  /** `archived` closes the project for new work, `active` opens it again. */
  status: z.optional(z.enum(["active", "archived"])),
  /** Hosts that its sessions may reach from now on, for keys of the organisation only. Applies to running sessions at once; open connections that the new rules refuse are closed. */
  network: z.optional(UpdateNetworkRules),
  /** What telemetry of new sessions captures unless a session or its pool says otherwise: categories, or `off`; `null` = the service's `default_telemetry`. For keys of the organisation only. Specific to Shoal. */
  default_telemetry: z.optional(z.nullable(DefaultTelemetry)),
  /** Whether new sessions are recorded as a video from their start; `null` = the service's `default_recording`. For keys of the organisation only. Specific to Shoal. */
  default_recording: z.optional(z.nullable(z.boolean())),
}));

/** Input of `projects.list`. */
export interface ListProjects extends z.input<typeof ListProjects> {}
export const ListProjects = lazyObject(() => ({
  ...pageFields,
  /** Part of a name; case does not matter. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
}));

/** Limits of a project. The organisation's limits apply as well. */
export interface ProjectLimits extends z.output<typeof ProjectLimits> {}
export const ProjectLimits = lazyObject(() => ({
  /** Most sessions at once, pool browsers included; `null` = the organisation's limit. */
  max_concurrent_sessions: z.optional(z.nullable(z.int())),
  /** App invocations that may run at once; `null` = as many as the organisation allows. */
  max_concurrent_invocations: z.optional(z.nullable(z.int())),
  /** @deprecated pools count towards `max_concurrent_sessions`. */
  // oxlint-disable-next-line typescript/no-deprecated -- a declaration is not a use
  max_pooled_sessions: z.optional(z.nullable(z.int())),
}));

/** A limit to set, at most 1000000: 0 takes it away. */
const limit = () => z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(1_000_000))));

/** Input of `projects.limits.update`. */
export interface UpdateProjectLimits extends z.input<typeof UpdateProjectLimits> {}
export const UpdateProjectLimits = lazyObject(() => ({
  /** Most sessions at once, pool browsers included, at most 1000000; 0 removes the limit, `null` or absent keeps it. */
  max_concurrent_sessions: limit(),
  /** App invocations that may run at once, at most 1000000; 0 takes the limit away, `null` or absent leaves it. */
  max_concurrent_invocations: limit(),
  /** @deprecated pools count towards `max_concurrent_sessions`. */
  // oxlint-disable-next-line typescript/no-deprecated -- a declaration is not a use
  max_pooled_sessions: limit(),
}));
