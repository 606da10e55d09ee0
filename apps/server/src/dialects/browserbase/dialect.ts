import type { Handlers } from "@shoal/router";
import { STATUS_CODES } from "node:http";
import { defineDialect, type DialectCaller, type DialectParts } from "../kit/dialect.ts";
import * as contract from "./contract.ts";
import { downloadFiles, uploadFile } from "./files.ts";
import { listLogs } from "./logs.ts";
import { missing, webdriver } from "./missing.ts";
import { listRecordings, listReplays } from "./recordings.ts";
import { resourceHandlers } from "./resources.ts";
import { noProject, projectIn } from "./shapes.ts";
import { createSession, debugSession, getSession, listSessions, releaseSession } from "./sessions.ts";

function handlers(parts: DialectParts): Handlers<typeof contract, DialectCaller> {
  return {
    ...resourceHandlers(parts),
    createSession: ({ body, context: caller, signal }) => createSession(parts, body, { caller, signal }),
    listSessions: ({ context, query }) => listSessions(context, query),
    getSession: ({ context, params }) => getSession(context, params.id),
    updateSession: ({ body, context, params }) => releaseSession(context, params.id, projectIn(body)),
    debugSession: ({ context, params, query }) =>
      debugSession(parts, context, { id: params.id, expiresIn: query.expiresIn }),
    listLogs: ({ context, params }) => listLogs(context, params.id),
    listRecordings: ({ context, params }) => listRecordings(parts, context, params.id),
    requestRecordings: ({ context, params }) => listRecordings(parts, context, params.id),
    listReplays: ({ context, params }) => listReplays(parts, context, params.id),
    uploadFile: ({ body, context, params, signal }) => uploadFile(context, params.id, { parts: body, signal }),
    downloadFiles: ({ context, params }) => downloadFiles(parts, context, params.id),
    async startStagehand({ body, context: caller, signal }) {
      const { browserbaseSessionCreateParams: params = {}, browserbaseSessionID: present } = body;
      const { id } =
        present === undefined || present === ""
          ? await createSession(parts, params, { caller, signal })
          : await getSession(caller, present);
      return { success: true, data: { sessionId: id, available: false } };
    },
  };
}

export const browserbase = defineDialect({
  name: "browserbase",
  title: "Browserbase",
  keyHeader: "x-bb-api-key",
  rootPath: "/v1/",
  projectHeader: "x-bb-project-id",
  noProject,
  foreignSecrets: ["x-model-api-key"],
  contract,
  sessionPath: "/v1/sessions/{id}",
  files: {
    downloadFiles: "download",
    listLogs: "telemetry",
    listRecordings: "recording",
    listReplays: "recording",
    requestRecordings: "recording",
  },
  handlers,
  missing: [...missing, webdriver],
  errorBody({ message }, statusCode, path) {
    if (path.startsWith(webdriver.path)) return { value: { error: "session not created", message, stacktrace: "" } };
    return { statusCode, error: STATUS_CODES[statusCode] ?? "Error", message };
  },
});
