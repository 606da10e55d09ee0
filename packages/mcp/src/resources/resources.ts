import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type Variables,
} from "@modelcontextprotocol/server";
import {
  downloadReplay,
  type Endpoint,
  getBrowser,
  listBrowsers,
  listFiles,
  listReplays,
  readFile,
} from "@shoal/contract";
import { isId } from "@shoal/primitives";
import { ApiError, type Transport } from "@shoal/transport";
import type { OwnBrowser } from "../browser/own-browser.ts";
import { readBytes, textIn } from "../answers/bytes.ts";
import { errorAnswer } from "../answers/error-answer.ts";
import { summaryOf } from "../tools/browsers.ts";
import { browserUri, fileUri, recordingUri } from "../base/uris.ts";

const maxFileBytes = 16 * 2 ** 20;
const maxRecordingBytes = 64 * 2 ** 20;
const maxListed = 100;
const downloads = "/home/shoal/Downloads";

export interface ResourceParts {
  /** Lists leave out what the caller may not read. */
  readonly mayCall: (operation: Endpoint) => boolean;
  readonly transport: Transport;
  readonly own: OwnBrowser | undefined;
  /** False: a misled model gets ids of no other sessions. A connection reads its own session, others read by id. */
  readonly seesAll: boolean;
}

/**
 * Sessions, their files and their recordings. Lists contain the connection's own session, or all running sessions with
 * `seesAll`. Without a connection, `open_browser` returns the id of a session, as for tools.
 */
export function registerResources(server: McpServer, parts: ResourceParts): void {
  registerBrowsers(server, parts);
  registerFiles(server, parts);
  registerRecordings(server, parts);
}

function registerBrowsers(server: McpServer, parts: ResourceParts): void {
  const { mayCall, seesAll, transport } = parts;
  const listsAll = seesAll && mayCall(listBrowsers);
  server.registerResource(
    "browser",
    new ResourceTemplate("shoal://browsers/{id}", {
      list: async ({ mcpReq: { signal } }) => {
        const all = listsAll && (await transport.call(listBrowsers, { query: { limit: maxListed } }, { signal }));
        const ids = all === false ? [ownId(parts, getBrowser)] : all.items.map(({ session_id }) => session_id);
        return {
          resources: ids
            .filter((id) => id !== undefined)
            .map((id) => ({ uri: browserUri(id), name: `browser ${id}`, mimeType: "application/json" })),
        };
      },
    }),
    { title: "Browser", description: "A session: options and times.", mimeType: "application/json" },
    async (uri, variables, { mcpReq: { signal } }) =>
      failingPlainly(async () => {
        const id = allowed(variables, parts);
        const browser = await transport.call(getBrowser, { params: { id_or_name: id } }, { signal });
        return textContents(uri, JSON.stringify(summaryOf(browser)), "application/json");
      }),
  );
}

function registerFiles(server: McpServer, parts: ResourceParts): void {
  const { transport } = parts;
  server.registerResource(
    "file",
    new ResourceTemplate("shoal://browsers/{id}/files/{+path}", {
      list: async ({ mcpReq: { signal } }) => {
        const id = ownId(parts, listFiles, readFile);
        if (id === undefined) return { resources: [] };
        const files = await transport
          .call(listFiles, { params: { id }, query: { path: downloads } }, { signal })
          .catch(noneIfMissing);
        return {
          resources: files
            .filter(({ is_dir, is_escaped }) => !is_dir && is_escaped !== true)
            .slice(0, maxListed)
            .map(({ name, path, size_bytes }) => ({ uri: fileUri(id, path), name, size: size_bytes })),
        };
      },
    }),
    { title: "File", description: "A file of a session; downloads are listed." },
    async (uri, variables, { mcpReq: { signal } }) =>
      failingPlainly(async () => {
        const id = allowed(variables, parts);
        const path = `/${decoded(variables, "path")}`;
        const download = await transport.download(readFile, { params: { id }, query: { path } }, { signal });
        const bytes = await readBytes(download, "The file", {
          limitBytes: maxFileBytes,
          hint: "Download it with `shoal browsers fs read-file`.",
        });
        const content = textIn(bytes);
        return content === undefined
          ? blobContents(uri, bytes, "application/octet-stream")
          : textContents(uri, content, "text/plain");
      }),
  );
}

function registerRecordings(server: McpServer, parts: ResourceParts): void {
  const { transport } = parts;
  server.registerResource(
    "recording",
    new ResourceTemplate("shoal://browsers/{id}/recordings/{replay_id}", {
      list: async ({ mcpReq: { signal } }) => {
        const id = ownId(parts, listReplays, downloadReplay);
        if (id === undefined) return { resources: [] };
        const replays = await transport.call(listReplays, { params: { id } }, { signal });
        return {
          resources: replays.slice(0, maxListed).map(({ replay_id }) => ({
            uri: recordingUri(id, replay_id),
            name: `recording ${replay_id}`,
            mimeType: "video/mp4",
          })),
        };
      },
    }),
    { title: "Recording", description: "A recording of a session, as MP4.", mimeType: "video/mp4" },
    async (uri, variables, { mcpReq: { signal } }) =>
      failingPlainly(async () => {
        const params = { id: allowed(variables, parts), replay_id: decoded(variables, "replay_id") };
        const film = await transport.download(downloadReplay, { params }, { signal });
        if (film === undefined) throw new Error("The recording is being written. Read it again in some seconds.");
        const bytes = await readBytes(film, "The recording", {
          limitBytes: maxRecordingBytes,
          hint: "Download it with `shoal browsers replays download`.",
        });
        return blobContents(uri, bytes, "video/mp4");
      }),
  );
}

/** The own session, if the caller may make these calls. */
function ownId({ mayCall, own }: ResourceParts, ...calls: readonly Endpoint[]): string | undefined {
  return calls.every(mayCall) ? own?.id : undefined;
}

function allowed(variables: Variables, { own, seesAll }: ResourceParts): string {
  const id = decoded(variables, "id");
  // The id of another session is unknown to a model, its name is not.
  if (seesAll || own?.id === id || (own === undefined && isId(id))) return id;
  throw new Error(`This connection reads its own session only. Select the group sessions to read ${id}.`);
}

function decoded(variables: Variables, name: string): string {
  const value = variables[name];
  return decodeURIComponent(Array.isArray(value) ? value.join(",") : (value ?? ""));
}

function textContents(uri: URL, content: string, mimeType: string): ReadResourceResult {
  return { contents: [{ uri: uri.href, text: content, mimeType }] };
}

function blobContents(uri: URL, bytes: Buffer, mimeType: string): ReadResourceResult {
  return { contents: [{ uri: uri.href, blob: bytes.toString("base64"), mimeType }] };
}

function noneIfMissing(error: unknown): never[] {
  if (ApiError.isInstance(error) && error.status === 404) return [];
  throw error;
}

/** Errors of resources are errors of the protocol, with one text. */
async function failingPlainly<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!ApiError.isInstance(error)) throw error;
    const [content] = errorAnswer(error).content;
    throw new Error(content?.type === "text" ? content.text : error.code, { cause: error });
  }
}
