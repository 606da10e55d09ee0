import * as z from "zod/mini";

/** Ports of 127.0.0.1 that lead to sockets of the service. */
const Forward = z.array(z.object({ port: z.int(), path: z.string() }));

/** First message to a runner: import the entry, then wait for one invocation. */
export const Serve = z.object({
  type: z.literal("serve"),
  forward: Forward,
  /** Absolute. */
  entry: z.string(),
  /** Name of the bundle next to the entry, without its extension, if it is not the one of a build. */
  bundle: z.optional(z.string()),
  /** Of the app. Never of the process that makes the box: `LD_PRELOAD` would run on the host. */
  env: z.record(z.string(), z.string()),
  /** For Node: the folder of compiled code, or `"record"` to receive it before `ready`. */
  compile_cache: z.optional(z.string()),
  /** For Python: the interpreter and the folders of its modules. */
  python: z.optional(z.object({ program: z.string(), paths: z.array(z.string()) })),
});
export type Serve = z.infer<typeof Serve>;

/** A `value` frame with the payload follows if `has_payload`. */
export const Invoke = z.object({
  type: z.literal("invoke"),
  invocation_id: z.string(),
  app_name: z.string(),
  action_name: z.string(),
  has_payload: z.boolean(),
});
export type Invoke = z.infer<typeof Invoke>;

/** First message to a builder. */
export const BuilderTask = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("build"),
    forward: Forward,
    language: z.enum(["node", "python"]),
    source: z.string(),
    work: z.string(),
    entry: z.string(),
    install: z.enum(["npm", "pnpm", "pip", "none"]),
    /** Scripts of Node: npm or pnpm. The first existing script runs. */
    tool: z.optional(z.array(z.string())),
    locked: z.boolean(),
    /** Archive of dependencies that an earlier build sent. */
    dependencies: z.optional(z.string()),
    /** Whether to send the dependencies as a separate file. */
    send_dependencies: z.boolean(),
    esbuild: z.string(),
    allow_scripts: z.array(z.string()),
    /** Of the tools. */
    env: z.record(z.string(), z.string()),
    /** Packages that the service has itself, as its registry describes them. */
    sdk: z.array(z.object({ name: z.string(), version: z.string(), integrity: z.string() })),
    /** The registry's own address, as in lockfiles, and its address in the box. */
    registry: z.optional(z.object({ url: z.string(), inside: z.string() })),
    /** Milliseconds. */
    install_ms: z.int(),
  }),
  /** Bundles the entry of a folder with installed dependencies, on the machine of a developer. */
  z.object({
    type: z.literal("bundle"),
    work: z.string(),
    entry: z.string(),
    /** Name of the bundle next to the entry, without its extension. */
    bundle: z.string(),
    esbuild: z.string(),
    /** Receives esbuild's list of inputs. */
    metafile: z.string(),
    env: z.record(z.string(), z.string()),
    /** Milliseconds. */
    install_ms: z.int(),
  }),
  z.object({
    type: z.literal("unpack"),
    archive: z.string(),
    to: z.string(),
    max_bytes: z.number(),
    max_files: z.int(),
  }),
  z.object({
    type: z.literal("fetch"),
    forward: Forward,
    url: z.string(),
    max_bytes: z.int(),
  }),
]);
export type BuilderTask = z.infer<typeof BuilderTask>;
export type BuildTask = Extract<BuilderTask, { type: "build" }>;
export type BundleTask = Extract<BuilderTask, { type: "bundle" }>;
export type UnpackTask = Extract<BuilderTask, { type: "unpack" }>;
export type FetchTask = Extract<BuilderTask, { type: "fetch" }>;

const name = z.string().check(z.minLength(1), z.maxLength(255));

const Action = z.object({
  name,
  input_schema: z.nullable(z.record(z.string(), z.unknown())),
  output_schema: z.nullable(z.record(z.string(), z.unknown())),
});

/** The service checks the times. */
const DeclaredSchedule = z.object({
  action_name: name,
  cron: z.string().check(z.maxLength(255)),
  time_zone: z.string().check(z.maxLength(255)),
  payload: z.optional(z.string().check(z.maxLength(65_536))),
});
export type DeclaredSchedule = z.infer<typeof DeclaredSchedule>;

const schedules = z.optional(z.array(DeclaredSchedule).check(z.maxLength(100)));

export const Described = z
  .array(z.object({ name, actions: z.array(Action).check(z.maxLength(1000)), schedules }))
  .check(z.maxLength(100));
export type Described = z.infer<typeof Described>;

const compiledName = z.string().check(z.regex(/^\w[\w.-]{0,100}$/));
const reason = z.string().check(z.maxLength(8_192));

/** Messages of the programs. They come from a box: check every one. */
export const FromBox = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), apps: Described }),
  /** Compiled code of the app. The following `bytes` frames are this file. */
  z.object({ type: z.literal("compiled"), name: compiledName }),
  z.object({ type: z.literal("failed"), reason }),
  /** A `value` frame with the output precedes it if `has_output`. */
  z.object({
    type: z.literal("result"),
    status: z.enum(["succeeded", "failed"]),
    status_reason: z.optional(reason),
    has_output: z.boolean(),
  }),
  /** The `bytes` frames until `file_end` are this file. */
  z.object({ type: z.literal("file"), name: z.enum(["dependencies", "artifact", "fetched"]) }),
  z.object({ type: z.literal("file_end") }),
  z.object({ type: z.literal("done") }),
]);
export type FromBox = z.infer<typeof FromBox>;
