import SwaggerUIBundle, { type ExplorerRequest } from "swagger-ui-dist/swagger-ui-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import "./explorer.css";
import { consoleHeaders, readSession } from "../api/console-session.ts";
import { serviceUrl } from "../base/place.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { followColorScheme } from "./color-scheme.ts";
import { findOperations } from "./find-operations.ts";
import { showPerson } from "./person.ts";

followColorScheme();
const session = await readSession().catch(() => null);
const person = showPerson(document.getElementById("person"), session);

/** Requests to this service use the console's session, unless the person entered a key. The curl command names a key. */
function authenticate(request: ExplorerRequest): ExplorerRequest {
  request.userFetch = boundedFetch;
  if (new Headers(request.headers).has("authorization")) return request;
  request.curlOptions = ['-H "Authorization: Bearer $SHOAL_API_KEY"'];
  if (session === null || !request.url.startsWith(`${serviceUrl}/`)) return request;
  const project = person.projectId();
  request.userFetch = (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(consoleHeaders)) headers.set(name, value);
    if (project !== undefined && !headers.has("x-shoal-project")) headers.set("x-shoal-project", project);
    return boundedFetch(input, { ...init, headers });
  };
  return request;
}

async function readDocument(): Promise<object> {
  const answer = await fetch(`${serviceUrl}/openapi.json`);
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for openapi.json.`);
  // The service may have a path prefix, which the document does not name.
  return { ...((await answer.json()) as object), servers: [{ url: serviceUrl }] };
}

const target = document.getElementById("explorer");
try {
  const spec = await readDocument();
  SwaggerUIBundle({
    spec,
    domNode: target,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [{ fn: { opsFilter: findOperations } }],
    layout: "BaseLayout",
    deepLinking: true,
    displayOperationId: true,
    displayRequestDuration: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    filter: true,
    // Its colors have too little contrast.
    syntaxHighlight: false,
    // Otherwise the page would ask validator.swagger.io.
    validatorUrl: null,
    requestInterceptor: authenticate,
  });
} catch (error) {
  const note = Object.assign(document.createElement("p"), { className: "note", textContent: String(error) });
  note.role = "alert";
  target?.replaceChildren(note);
}
