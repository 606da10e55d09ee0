import type { MissingOperation } from "../kit/dialect.ts";

/** What the vendor has and this service does not. */
export const missing: readonly MissingOperation[] = [
  { path: "/v1/agents", reason: "This service runs no agents; run yours against a session." },
  {
    path: "/v1/functions",
    reason: "This service runs no functions of this kind; deploy an app with POST /deployments.",
  },
  { path: "/v1/search", reason: "This service has no search; open a search engine in a session." },
  { path: "/v1/fetch", reason: "This service fetches pages in a session only; use POST /browsers/{id}/curl." },
  { path: "/v1/secrets", reason: "This service stores secrets as credentials; use POST /credentials." },
  {
    path: "/v1/certificates",
    reason: "This service stores certificates with a proxy; use POST /proxies and ca_bundle.",
  },
  { path: "/v1/webhooks", reason: "Webhooks of this service have other events; use POST /webhooks." },
  { path: "/v1/downloads", reason: "Single downloads are not listed here; use GET /v1/sessions/{id}/downloads." },
  { path: "/v1/llm", reason: "This service has no model gateway; pass a model and its key to Stagehand." },
  { path: "/v1/cache", reason: "This service has no cache of model answers; turn it off in Stagehand." },
  {
    path: "/v1/sessions/:id/recording",
    reason: "Recordings are films here; use GET /v1/sessions/{id}/recording/downloads.",
  },
  {
    path: "/v1/sessions/:id/replays/:pageId",
    reason: "Replays are not served as HLS; url in GET /v1/sessions/{id}/replays is a film.",
  },
];

/** WebDriver has another shape for errors. */
export const webdriver: MissingOperation = {
  path: "/webdriver",
  reason: "session not created: WebDriver is not served at seleniumRemoteUrl; connect to connectUrl through CDP.",
};
