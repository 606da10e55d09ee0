import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

/** Of the vendor's MCP server, without its variable for a project. */
export const noProject = "dummy-browserbase-project-id";

const text = (maxLength: number) => checked(z.string(), z.maxLength(maxLength));
const time = z.string();
const maxMetadataCharacters = 512;

/** PostgreSQL stores neither NUL nor halves of surrogate pairs. */
function isStorableJson(value: unknown): boolean {
  let storable = true;
  const look = (part: string): void => {
    storable &&= !part.includes("\0") && part.isWellFormed();
  };
  JSON.stringify(value, (key, inner: unknown) => {
    look(key);
    if (typeof inner === "string") look(inner);
    return inner;
  });
  return storable;
}

const UserMetadata = checked(
  z.record(z.string(), z.unknown()),
  z.refine(
    (value) => JSON.stringify(value).length <= maxMetadataCharacters,
    `at most ${String(maxMetadataCharacters)} characters as JSON are possible`,
  ),
  z.refine(isStorableJson, "must not contain NUL or halves of surrogate pairs"),
);

const size = () => z.optional(checked(z.int(), z.minimum(1), z.maximum(16_384)));

const ExternalProxy = z.object({
  type: z.literal("external"),
  server: text(2048),
  username: z.optional(text(1024)),
  password: z.optional(text(1024)),
  domainPattern: z.optional(text(253)),
});
const ManagedProxy = z.object({
  type: z.literal("browserbase"),
  domainPattern: z.optional(text(253)),
  geolocation: z.optional(z.object({ country: text(255), state: z.optional(text(255)), city: z.optional(text(255)) })),
});
const NoProxy = z.object({ type: z.literal("none"), domainPattern: z.optional(text(253)) });

export type ProxyRule = z.output<typeof ProxyRule>;
const ProxyRule = z.discriminatedUnion("type", [ExternalProxy, ManagedProxy, NoProxy]);

/** The named project. */
export function projectIn({ projectId }: { readonly projectId?: string | undefined }): string | undefined {
  return projectId === noProject ? undefined : projectId;
}

export type CreateSession = z.output<typeof CreateSession>;
export const CreateSession = lazyObject(() => ({
  projectId: z.optional(text(255)),
  /** Longest duration in seconds. */
  timeout: z.optional(checked(z.int(), z.minimum(60), z.maximum(21_600))),
  /** The session goes on after its last client, until `timeout`. */
  keepAlive: z.optional(z.boolean()),
  /** Accepted, and not followed. */
  region: z.optional(text(64)),
  extensionId: z.optional(text(255)),
  userMetadata: z.optional(UserMetadata),
  proxies: z.optional(z.union([z.boolean(), checked(z.array(ProxyRule), z.maxLength(100))])),
  proxySettings: z.optional(z.object({ caCertificates: z.optional(checked(z.array(text(255)), z.maxLength(100))) })),
  browserSettings: z.optional(
    z.object({
      viewport: z.optional(z.object({ width: size(), height: size() })),
      context: z.optional(
        z.object({ id: checked(text(255), z.minLength(1)), persist: z._default(z.boolean(), false) }),
      ),
      extensionId: z.optional(text(255)),
      recordSession: z.optional(z.boolean()),
      logSession: z.optional(z.boolean()),
      blockAds: z.optional(z.boolean()),
      allowedDomains: z.optional(checked(z.array(text(253)), z.maxLength(1000))),
      ignoreCertificateErrors: z.optional(z.boolean()),
      solveCaptchas: z.optional(z.boolean()),
      captchaImageSelector: z.optional(text(4096)),
      captchaInputSelector: z.optional(text(4096)),
      advancedStealth: z.optional(z.boolean()),
      verified: z.optional(z.boolean()),
      os: z.optional(z.enum(["windows", "mac", "linux", "mobile", "tablet"])),
      fingerprint: z.optional(z.unknown()),
    }),
  ),
}));

export const sessionStatuses = ["PENDING", "RUNNING", "ERROR", "TIMED_OUT", "COMPLETED"] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** The answers. */
export type Session = z.output<typeof Session>;
export const Session = lazyObject(() => ({
  id: z.string(),
  projectId: z.string(),
  status: z.string(),
  createdAt: time,
  updatedAt: time,
  startedAt: time,
  expiresAt: time,
  endedAt: z.optional(time),
  keepAlive: z.boolean(),
  /** Always 0: traffic is counted by project. */
  proxyBytes: z.int(),
  /** Always `us-west-2`, because clients accept four values only. */
  region: z.string(),
  contextId: z.optional(z.string()),
  userMetadata: z.optional(z.record(z.string(), z.unknown())),
  /** A CDP address, while the session runs. */
  connectUrl: z.optional(z.string()),
  seleniumRemoteUrl: z.optional(z.string()),
  signingKey: z.optional(z.string()),
}));

export const ListSessions = lazyObject(() => ({
  status: z.optional(z.enum(sessionStatuses)),
  /** `user_metadata['key']:'value'` */
  q: z.optional(text(2048)),
}));

export const UpdateSession = lazyObject(() => ({
  status: z.enum(["REQUEST_RELEASE"]),
  projectId: z.optional(text(255)),
}));

export const DebugSession = lazyObject(() => ({
  /** Seconds until the addresses expire. */
  expiresIn: z.optional(checked(z.int(), z.minimum(10), z.maximum(21_600))),
}));

export type DebugAddresses = z.output<typeof DebugAddresses>;
export const DebugAddresses = lazyObject(() => ({
  debuggerUrl: z.string(),
  debuggerFullscreenUrl: z.string(),
  wsUrl: z.string(),
  pages: z.array(
    z.object({
      id: z.string(),
      url: z.string(),
      title: z.string(),
      faviconUrl: z.string(),
      debuggerUrl: z.string(),
      debuggerFullscreenUrl: z.string(),
    }),
  ),
}));

export type SessionLog = z.output<typeof SessionLog>;
export const SessionLog = lazyObject(() => ({
  sessionId: z.string(),
  pageId: z.int(),
  method: z.string(),
  timestamp: z.optional(z.int()),
  frameId: z.optional(z.string()),
  loaderId: z.optional(z.string()),
  request: z.optional(
    z.object({ params: z.record(z.string(), z.unknown()), rawBody: z.string(), timestamp: z.optional(z.int()) }),
  ),
  response: z.optional(
    z.object({ result: z.record(z.string(), z.unknown()), rawBody: z.string(), timestamp: z.optional(z.int()) }),
  ),
}));

export type RecordingDownloads = z.output<typeof RecordingDownloads>;
export const RecordingDownloads = lazyObject(() => ({
  downloads: z.array(
    z.object({
      pageId: z.string(),
      status: z.string(),
      downloadUrl: z.optional(z.string()),
      completedAt: z.optional(time),
    }),
  ),
}));

export type Replays = z.output<typeof Replays>;
export const Replays = lazyObject(() => ({
  pageCount: z.int(),
  pages: z.array(z.object({ pageId: z.string(), startTimeMs: z.number(), endTimeMs: z.number(), url: z.string() })),
}));

export const UploadFile = lazyObject(() => ({ file: z.file() }));
export const Message = lazyObject(() => ({ message: z.string() }));

export const CreateContext = lazyObject(() => ({ name: z.optional(text(255)), projectId: z.optional(text(255)) }));

export type Context = z.output<typeof Context>;
export const Context = lazyObject(() => ({
  id: z.string(),
  name: z.optional(z.string()),
  projectId: z.string(),
  createdAt: time,
  updatedAt: time,
}));

/** Contexts are filled by sessions, so the fields for an upload have no use. */
export const CreatedContext = lazyObject(() => ({
  id: z.string(),
  uploadUrl: z.string(),
  publicKey: z.string(),
  cipherAlgorithm: z.string(),
  initializationVectorSize: z.int(),
}));

export const StoredExtension = lazyObject(() => ({
  id: z.string(),
  fileName: z.string(),
  projectId: z.string(),
  createdAt: time,
  updatedAt: time,
}));

export const Project = lazyObject(() => ({
  id: z.string(),
  name: z.string(),
  ownerId: z.string(),
  /** Seconds. */
  defaultTimeout: z.int(),
  concurrency: z.int(),
  createdAt: time,
  updatedAt: time,
}));

export const ProjectUsage = lazyObject(() => ({
  /** Of the last 366 days. */
  browserMinutes: z.int(),
  /** Always 0: traffic through proxies is not counted apart. */
  proxyBytes: z.int(),
}));

/** The start of a Stagehand session. Everything else in it is for the models of the vendor. */
export const StartStagehand = z.lazy(() =>
  z.looseObject({
    browserbaseSessionCreateParams: z.optional(CreateSession),
    browserbaseSessionID: z.optional(text(255)),
  }),
);

export const StartedStagehand = lazyObject(() => ({
  success: z.boolean(),
  data: z.object({
    sessionId: z.string(),
    /** `false`: Stagehand asks its models itself. */
    available: z.boolean(),
  }),
}));
