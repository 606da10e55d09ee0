import { contract } from "@shoal/contract";
import { type Instance, answerJson } from "@shoal/placement";
import { isId } from "@shoal/primitives";
import { badInput, ServiceError } from "@shoal/router";
import { mount } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { pathInside } from "../../http/auth/session-path.ts";
import { refuseTwoKeys } from "../../http/auth/connect-address.ts";
import { replicaHeader } from "../../http/relay.ts";
import { forward } from "../../sessions/instance-plane/forward.ts";
import { untrustedContent } from "../../sessions/instance-plane/forwarded-headers.ts";
import type { DialectCaller } from "../kit/dialect.ts";
import type { DialectHost } from "../kit/mount-dialect.ts";
import { NativeCalls } from "../kit/native-calls.ts";
import { newSession } from "./contract.ts";
import { SessionStarts } from "./create.ts";
import { downloadInJson, listDownloads } from "./downloads.ts";

/** Bodies of Grid's own commands: a name. */
const maxBodyBytes = 65_536;
const jsonAnswer = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Serves clients of WebDriver (W3C) and of Selenium Grid. */
export function mountWebDriver(app: FastifyInstance, host: DialectHost): void {
  const starts = new SessionStarts(host);
  mount<typeof newSession, DialectCaller>(
    app,
    newSession,
    async ({ body, context, signal }) => ({ value: await starts.start(context, body, signal) }),
    {
      unknownFields: "ignore",
      async context(request): Promise<DialectCaller> {
        refuseTwoKeys(request.raw);
        const access = await host.entrance.authenticate(request);
        return { access, request, calls: new NativeCalls(host, request, access) };
      },
    },
  );
  app.get("/webdriver/status", async (_request, reply) => {
    await send(reply, { ready: true, message: "The service creates sessions." });
  });
  app.all("/webdriver/session/*", () => {
    throw unknownSession();
  });
  app.all("/webdriver/*", (request) => {
    throw new ServiceError(404, "not_found", `${request.method} ${request.url.slice(0, 200)} is not a command.`);
  });
  for (const url of ["/browsers/:id/wd/session", "/browsers/:id/wd/session/*"])
    app.route<{ Params: { id: string } }>({
      method: ["GET", "POST", "DELETE"],
      url,
      exposeHeadRoute: false,
      handler: (request, reply) => command(host, request, reply),
    });
}

function unknownSession(): ServiceError {
  return new ServiceError(404, "not_found", "The session does not exist.", {
    hint: "Use the sessionId that POST /session returned.",
  });
}

async function command(
  host: DialectHost,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { id } = request.params;
  // Addresses of WebDriver contain ids. With a name, the end of a session would be confirmed, and not happen.
  if (!isId(id)) throw unknownSession();
  const [path = ""] = pathInside(request.raw.url ?? "").split("?", 1);
  const method = `${request.method} ${path.replace(/^\/wd\/session/, "")}`;
  const isEnd = method === "DELETE ";
  refuseTwoKeys(request.raw);
  await refuseOtherProjects(host, request, id);
  const way = isEnd ? { endpoint: contract.deleteBrowser } : ({ connection: "browsers.cdp.connect" } as const);
  const instance = await host.routing.instanceFor(request, way);
  if (instance === undefined) return;
  if (isEnd) {
    const projectId = host.sessions.projectOf(id);
    if (projectId !== undefined) await host.sessions.delete(projectId, id);
    await send(reply, null);
    return;
  }
  if (await gridCommand({ id, instance, method, reply, request })) return;
  const { "content-length": length, "content-type": type } = request.headers;
  const headers = {
    ...(length !== undefined && { "content-length": length }),
    ...(type !== undefined && { "content-type": type }),
  };
  await forward(instance, id, { request, reply }, { request: headers, answer: answerHeaders });
}

/** The session id is the right; a key that is sent as well must be of the same project. @throws {ServiceError} 401, 404 */
async function refuseOtherProjects(host: DialectHost, request: FastifyRequest, id: string): Promise<void> {
  // A server that forwards a request has checked it; the token is checked with that header.
  if (request.headers.authorization === undefined || request.headers[replicaHeader] !== undefined) return;
  const { projectId } = await host.entrance.authenticate(request);
  const known = host.sessions.projectOf(id);
  // Throws 404 for a session of another project.
  if (known !== projectId) await host.sessions.get(projectId, id, false);
}

interface GridCommand {
  readonly id: string;
  readonly instance: Instance;
  readonly method: string;
  readonly reply: FastifyReply;
  readonly request: FastifyRequest;
}

/** @returns false if the driver answers the command. */
async function gridCommand({ id, instance, method, reply, request }: GridCommand): Promise<boolean> {
  switch (method) {
    case "GET /se/files":
      await send(reply, await listDownloads(instance, id));
      return true;
    case "POST /se/files": {
      const body = await answerJson(request.raw, { bytes: maxBodyBytes }).catch(() => undefined);
      const name = typeof body === "object" && body !== null && "name" in body ? body.name : undefined;
      if (typeof name !== "string") throw badInput("body.name", "required (expected a string)");
      await reply.headers(jsonAnswer).send(await downloadInJson(instance, id, name));
      return true;
    }
    case "POST /se/event":
      await send(reply, null);
      return true;
    default:
      return false;
  }
}

async function send(reply: FastifyReply, value: object | null): Promise<void> {
  await reply.headers(jsonAnswer).send(JSON.stringify({ value }));
}

function answerHeaders({ "content-length": length }: IncomingHttpHeaders): OutgoingHttpHeaders {
  return { ...untrustedContent, ...jsonAnswer, ...(length !== undefined && { "content-length": length }) };
}
