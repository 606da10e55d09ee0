import { bytes, defineEndpoint, empty, json, multipart, optionalJson } from "@shoal/contract";
import { lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import * as shapes from "./shapes.ts";

const id = lazyObject(() => ({ id: z.string().check(z.minLength(1), z.maxLength(255)) }));
const common = { plane: "control", errors: [400, 401, 403, 404, 429, 500, 503] } as const;
const sessions = { ...common, area: "Sessions" } as const;
const contexts = { ...common, area: "Contexts" } as const;
const extensions = { ...common, area: "Extensions" } as const;
const projects = { ...common, area: "Projects" } as const;

export const createSession = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.create",
  method: "POST",
  path: "/v1/sessions",
  summary: "Start a session.",
  body: optionalJson(shapes.CreateSession),
  responses: { 201: json(shapes.Session) },
});

export const listSessions = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.list",
  method: "GET",
  path: "/v1/sessions",
  summary: "List the newest 1,000 sessions.",
  query: shapes.ListSessions,
  responses: { 200: json(z.array(shapes.Session)) },
});

export const getSession = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.get",
  method: "GET",
  path: "/v1/sessions/{id}",
  summary: "Get a session, running or ended.",
  params: id,
  responses: { 200: json(shapes.Session) },
});

export const updateSession = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.update",
  method: "POST",
  path: "/v1/sessions/{id}",
  summary: "End a session.",
  params: id,
  body: json(shapes.UpdateSession),
  responses: { 200: json(shapes.Session) },
});

export const debugSession = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.debug",
  method: "GET",
  path: "/v1/sessions/{id}/debug",
  summary: "Get addresses of the live view.",
  params: id,
  query: shapes.DebugSession,
  responses: { 200: json(shapes.DebugAddresses) },
});

export const listLogs = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.logs",
  method: "GET",
  path: "/v1/sessions/{id}/logs",
  summary: "List the captured events of a session, at most 1,000.",
  params: id,
  responses: { 200: json(z.array(shapes.SessionLog)) },
});

const recording = {
  ...sessions,
  path: "/v1/sessions/{id}/recording/downloads",
  params: id,
  responses: { 200: json(shapes.RecordingDownloads) },
} as const;

export const listRecordings = defineEndpoint({
  ...recording,
  operationId: "browserbase.sessions.recording.downloads.list",
  method: "GET",
  summary: "List the recordings of a session.",
});

export const requestRecordings = defineEndpoint({
  ...recording,
  operationId: "browserbase.sessions.recording.downloads.create",
  method: "POST",
  summary: "List the recordings of a session; they need no preparation.",
});

export const listReplays = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.replays.list",
  method: "GET",
  path: "/v1/sessions/{id}/replays",
  summary: "List the recordings of a session with their times.",
  params: id,
  responses: { 200: json(shapes.Replays) },
});

export const uploadFile = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.uploads.create",
  method: "POST",
  path: "/v1/sessions/{id}/uploads",
  summary: "Upload a file into a session, to /tmp/.uploads.",
  params: id,
  body: multipart(shapes.UploadFile),
  idempotency: { repeats: "The file is a stream; a repetition writes the same one." },
  responses: { 200: json(shapes.Message) },
});

export const downloadFiles = defineEndpoint({
  ...sessions,
  operationId: "browserbase.sessions.downloads.list",
  method: "GET",
  path: "/v1/sessions/{id}/downloads",
  summary: "Download a ZIP archive of the files that the session downloaded.",
  params: id,
  responses: { 200: bytes("application/zip") },
});

export const createContext = defineEndpoint({
  ...contexts,
  operationId: "browserbase.contexts.create",
  method: "POST",
  path: "/v1/contexts",
  summary: "Create a profile.",
  body: optionalJson(shapes.CreateContext),
  responses: { 201: json(shapes.CreatedContext) },
});

export const getContext = defineEndpoint({
  ...contexts,
  operationId: "browserbase.contexts.get",
  method: "GET",
  path: "/v1/contexts/{id}",
  summary: "Get a profile.",
  params: id,
  responses: { 200: json(shapes.Context) },
});

export const updateContext = defineEndpoint({
  ...contexts,
  operationId: "browserbase.contexts.update",
  method: "PUT",
  path: "/v1/contexts/{id}",
  summary: "Get a profile, as its creation answered.",
  params: id,
  responses: { 200: json(shapes.CreatedContext) },
});

export const deleteContext = defineEndpoint({
  ...contexts,
  operationId: "browserbase.contexts.delete",
  method: "DELETE",
  path: "/v1/contexts/{id}",
  summary: "Delete a profile.",
  params: id,
  responses: { 204: empty },
});

export const uploadExtension = defineEndpoint({
  ...extensions,
  operationId: "browserbase.extensions.create",
  method: "POST",
  path: "/v1/extensions",
  summary: "Upload an extension.",
  body: multipart(shapes.UploadFile),
  idempotency: { repeats: "The file is a stream; a repetition stores another extension." },
  responses: { 201: json(shapes.StoredExtension) },
});

export const getExtension = defineEndpoint({
  ...extensions,
  operationId: "browserbase.extensions.get",
  method: "GET",
  path: "/v1/extensions/{id}",
  summary: "Get an extension.",
  params: id,
  responses: { 200: json(shapes.StoredExtension) },
});

export const deleteExtension = defineEndpoint({
  ...extensions,
  operationId: "browserbase.extensions.delete",
  method: "DELETE",
  path: "/v1/extensions/{id}",
  summary: "Delete an extension.",
  params: id,
  responses: { 204: empty },
});

export const listProjects = defineEndpoint({
  ...projects,
  operationId: "browserbase.projects.list",
  method: "GET",
  path: "/v1/projects",
  summary: "List the projects of the key.",
  responses: { 200: json(z.array(shapes.Project)) },
});

export const getProject = defineEndpoint({
  ...projects,
  operationId: "browserbase.projects.get",
  method: "GET",
  path: "/v1/projects/{id}",
  summary: "Get a project.",
  params: id,
  responses: { 200: json(shapes.Project) },
});

export const getProjectUsage = defineEndpoint({
  ...projects,
  operationId: "browserbase.projects.usage",
  method: "GET",
  path: "/v1/projects/{id}/usage",
  summary: "Get the minutes of a project's sessions.",
  params: id,
  responses: { 200: json(shapes.ProjectUsage) },
});

export const startStagehand = defineEndpoint({
  ...common,
  area: "Stagehand",
  operationId: "browserbase.stagehand.start",
  method: "POST",
  path: "/v1/sessions/start",
  summary: "Start a session for Stagehand, which asks its models itself.",
  body: json(shapes.StartStagehand),
  responses: { 200: json(shapes.StartedStagehand) },
});
