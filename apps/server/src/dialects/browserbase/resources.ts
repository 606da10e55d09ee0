import { contract as native } from "@shoal/contract";
import { createId } from "@shoal/primitives";
import type { Handlers, MultipartPart } from "@shoal/router";
import type { Extension, Profile, Project } from "@shoal/schemas";
import { concurrencyOf } from "../kit/browsers.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { defaultTimeout } from "./create-session.ts";
import type * as contract from "./contract.ts";
import { type Context, projectIn } from "./shapes.ts";

const dayMs = 24 * 60 * 60 * 1000;
const usageDays = 365;
const maxListed = 1000;

type ResourceHandlers = Pick<
  Handlers<typeof contract, DialectCaller>,
  | "createContext"
  | "deleteContext"
  | "deleteExtension"
  | "getContext"
  | "getExtension"
  | "getProject"
  | "getProjectUsage"
  | "listProjects"
  | "updateContext"
  | "uploadExtension"
>;

const toContext = ({ created_at, id, name, updated_at }: Profile, projectId: string): Context => ({
  id,
  projectId,
  ...(name != null && { name }),
  createdAt: created_at,
  updatedAt: updated_at ?? created_at,
});

/** Sessions fill contexts, so nothing can be uploaded to this address. */
const toCreated = ({ id }: Pick<Profile, "id">, baseUrl: string) => ({
  id,
  uploadUrl: `${baseUrl}/browserbase/v1/contexts/${id}`,
  publicKey: "",
  cipherAlgorithm: "AES-256-CBC",
  initializationVectorSize: 16,
});

const toExtension = ({ created_at, id, name }: Extension, projectId: string, fileName = `${name ?? id}.zip`) => ({
  id,
  fileName,
  projectId,
  createdAt: created_at,
  updatedAt: created_at,
});

/** Adds a name to the file: several extensions may have files of the same name. */
async function* named(
  parts: AsyncIterable<MultipartPart>,
  onName: (fileName: string) => void,
): AsyncGenerator<MultipartPart> {
  let name = "extension";
  for await (const part of parts) {
    if (part.kind === "file") {
      onName(part.filename);
      name =
        part.filename
          .replace(/\.zip$/i, "")
          .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
          .slice(0, 100) || name;
    }
    yield part;
  }
  yield {
    kind: "field",
    name: "name",
    value: `${name.replace(/^[.-]+/, "") || "extension"}-${createId().slice(0, 8)}`,
  };
}

export function resourceHandlers(parts: DialectParts): ResourceHandlers {
  const profileOf = async ({ calls }: DialectCaller, id: string): Promise<Profile> =>
    calls.call("getProfile", { params: { id_or_name: id } });

  async function toProject({ calls }: DialectCaller, project: Project) {
    return {
      id: project.id,
      name: project.name,
      ownerId: "shoal",
      defaultTimeout,
      concurrency: await concurrencyOf(parts, calls, project.id),
      createdAt: project.created_at,
      updatedAt: project.updated_at,
    };
  }

  return {
    async createContext({ body, context: { calls: own } }) {
      const { name } = body;
      const calls = await own.inProject(projectIn(body));
      const created = await calls.call("createProfile", { body: name === undefined ? {} : { name } });
      return toCreated(created, calls.access.baseUrl);
    },
    async getContext({ context, params }) {
      return toContext(await profileOf(context, params.id), context.access.projectId);
    },
    async updateContext({ context, params }) {
      return toCreated(await profileOf(context, params.id), context.access.baseUrl);
    },
    async deleteContext({ context, params }) {
      await context.calls.call("deleteProfile", { params: { id_or_name: params.id } });
    },
    async uploadExtension({ body, context: { access, calls }, signal }) {
      let fileName: string | undefined;
      const form = named(body, (sent) => (fileName = sent));
      const upload = await calls.run(native.uploadExtension, { signal }, ({ context }) =>
        parts.extensions.upload(context.projectId, form),
      );
      return toExtension(upload, access.projectId, fileName);
    },
    async getExtension({ context: { access, calls }, params }) {
      const found = await calls.call("getExtension", { params: { id_or_name: params.id } });
      return toExtension(found, access.projectId);
    },
    async deleteExtension({ context, params }) {
      await context.calls.call("deleteExtension", { params: { id_or_name: params.id } });
    },
    async listProjects({ context }) {
      const page = await context.calls.call("listProjects", { query: { limit: maxListed } });
      return "items" in page ? Promise.all(page.items.map((project) => toProject(context, project))) : [];
    },
    async getProject({ context, params }) {
      const project: Project = await context.calls.call("getProject", { params: { id: params.id } });
      return toProject(context, project);
    },
    async getProjectUsage({ context, params }) {
      await context.calls.call("getProject", { params: { id: params.id } });
      const from = new Date(Date.now() - usageDays * dayMs).toISOString().slice(0, 10);
      const page = await context.calls.call("listUsage", { query: { from, project_id: params.id, limit: maxListed } });
      const days = "items" in page ? page.items : [];
      const browserMinutes = Math.round(days.reduce((sum, { session_minutes }) => sum + session_minutes, 0));
      return { browserMinutes, proxyBytes: 0 };
    },
  };
}
