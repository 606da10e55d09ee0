import * as z from "zod/mini";
import { pageFields, Timestamp } from "./common.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

/** 1 to 255 characters, counted as people see them (code points), none of them a control character; not `.` or `..`. */
const ProjectName: Schema<string> = z.lazy(() =>
  checked(z.string(), z.regex(/^(?!\.{1,2}$)\P{Cc}{1,255}$/u, '1 to 255 characters, none of them a control character, and not "." or ".."')),
);

export const ProjectShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the organisation. */
  name: z.string(),
  /** `active`, or `archived`: then nothing new can be made in it. */
  status: openEnum("active", "archived"),
  /** When it was made. */
  created_at: Timestamp,
  /** When its name or status last changed. */
  updated_at: Timestamp,
}));
/** A part of the organisation with browsers, profiles, keys and limits of its own. */
export interface Project extends z.output<typeof ProjectShape> {}
export const Project: Schema<Project> = ProjectShape;

export const CreateProjectShape = lazyObject(() => ({
  /** Unique in the organisation, 1 to 255 characters. */
  name: ProjectName,
}));
/** What `projects.create` takes. */
export interface CreateProject extends z.input<typeof CreateProjectShape> {}
export const CreateProject: Schema<z.output<typeof CreateProjectShape>, CreateProject> = CreateProjectShape;

export const UpdateProjectShape = lazyObject(() => ({
  /** The new name, unique in the organisation, 1 to 255 characters. */
  name: z.optional(ProjectName),
  /** `archived` closes the project for new work, `active` opens it again. */
  status: z.optional(z.enum(["active", "archived"])),
}));
/** What `projects.update` takes. */
export interface UpdateProject extends z.input<typeof UpdateProjectShape> {}
export const UpdateProject: Schema<z.output<typeof UpdateProjectShape>, UpdateProject> = UpdateProjectShape;

export const ListProjectsShape = lazyObject(() => ({
  ...pageFields,
  /** Part of a name; case does not matter. */
  query: z.optional(z.string()),
  /** A whole name; case and accents do not matter. */
  name: z.optional(z.string()),
}));
/** What `projects.list` takes. */
export interface ListProjects extends z.input<typeof ListProjectsShape> {}
export const ListProjects: Schema<z.output<typeof ListProjectsShape>, ListProjects> = ListProjectsShape;

export const ProjectLimitsShape = lazyObject(() => ({
  /** Sessions that may run at once, those that its pools hold among them; `null` = as many as the organisation allows. */
  max_concurrent_sessions: z.optional(z.nullable(z.int())),
  /** App invocations that may run at once; `null` = as many as the organisation allows. */
  max_concurrent_invocations: z.optional(z.nullable(z.int())),
  /** @deprecated pools count towards `max_concurrent_sessions`. */
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- declaring it is no use of it
  max_pooled_sessions: z.optional(z.nullable(z.int())),
}));
/** How much a project may use at once. The organisation's limits hold beside them. */
export interface ProjectLimits extends z.output<typeof ProjectLimitsShape> {}
export const ProjectLimits: Schema<ProjectLimits> = ProjectLimitsShape;

/** A limit to set, at most 1000000: 0 takes it away. */
const limit = () => z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(1_000_000))));

export const UpdateProjectLimitsShape = lazyObject(() => ({
  /** Sessions that may run at once, at most 1000000, those that its pools hold among them; 0 takes the limit away, `null` or absent leaves it. */
  max_concurrent_sessions: limit(),
  /** App invocations that may run at once, at most 1000000; 0 takes the limit away, `null` or absent leaves it. */
  max_concurrent_invocations: limit(),
  /** @deprecated pools count towards `max_concurrent_sessions`. */
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- declaring it is no use of it
  max_pooled_sessions: limit(),
}));
/** What `projects.limits.update` takes. */
export interface UpdateProjectLimits extends z.input<typeof UpdateProjectLimitsShape> {}
export const UpdateProjectLimits: Schema<z.output<typeof UpdateProjectLimitsShape>, UpdateProjectLimits> = UpdateProjectLimitsShape;
