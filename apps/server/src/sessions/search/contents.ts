import type { CheckedRequestOf, fetchSearchContents } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { RenderPage, type Search, type SearchContent, type SearchContents, type SearchResult } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import { storableText } from "../../storage/storable-text.ts";
import type { Rendered, Renders } from "../render/renders.ts";

type Body = CheckedRequestOf<typeof fetchSearchContents>["body"];
type Options = Exclude<NonNullable<Body["content"]>, boolean>;

interface ContentsCall {
  readonly body: Body;
  readonly context: Access;
  readonly signal: AbortSignal;
}

const origin = { dialect: "search" };
const leastMs = 1_000;
/** Characters of the longest token, for the limit of Markdown. */
const charactersPerToken = 3;
const defaults = { source: "auto", format: "markdown", max_chars: 10_000, timeout_ms: 15_000 } as const;
/** No session can start. A browser that ends under its page is a problem of the page. */
const isFull = ({ code, status }: ServiceError): boolean =>
  [429, 503, 507, 529].includes(status) && code !== "browser_not_running";

/**
 * Renders the pages of results one after another.
 * @throws {ServiceError} 400 for unknown results; as creating a session if the first page gets none.
 */
export async function contentsOf(
  renders: Pick<Renders, "render">,
  search: Search,
  { body, context, signal }: ContentsCall,
): Promise<SearchContents> {
  const options: Options = typeof body.content === "object" ? body.content : defaults;
  const wanted = wantedOf(search, body);
  const untilMs = performance.now() + body.timeout_ms;
  const contents: SearchContent[] = [];
  let pages = 0;
  for (const result of wanted) {
    const timeoutMs = Math.min(options.timeout_ms, Math.floor(untilMs - performance.now()));
    const known = { result_id: result.id, url: result.url };
    if (options.source === "provider") contents.push({ ...known, ...notFromProvider });
    else if (timeoutMs < leastMs) contents.push({ ...known, ...outOfTime });
    else {
      pages += 1;
      try {
        const page = RenderPage.parse(requestFor(result, options, timeoutMs));
        contents.push({
          ...known,
          ...readFrom(await renders.render({ body: page, context, signal }, origin), options),
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!ServiceError.isInstance(error) || (contents.length === 0 && isFull(error))) throw error;
        contents.push({ ...known, ...failureOf(error) });
      }
    }
  }
  return { search_id: search.id, contents, usage: { provider_requests: 0, rendered_pages: pages }, warnings: [] };
}

function wantedOf({ results }: Search, { limit, result_ids: ids }: Body): readonly SearchResult[] {
  if (ids === undefined) return results.slice(0, limit);
  return ids.map((id, index) => {
    const result = results.find((one) => one.id === id);
    if (result !== undefined) return result;
    throw ServiceError.of(
      invalid(`body.result_ids.${String(index)}`, "names no result of this search", {
        hint: "Read the ids with search.get.",
      }),
    );
  });
}

function requestFor({ url }: SearchResult, { format, max_chars: most }: Options, timeoutMs: number): RenderPage {
  const tokens = Math.min(100_000, Math.max(100, Math.ceil(most / charactersPerToken)));
  return {
    url,
    timeout_ms: timeoutMs,
    outputs: [format],
    ...(format === "markdown" && { markdown: { max_tokens: tokens } }),
  };
}

function readFrom(
  { head, parts }: Rendered,
  { format, max_chars: most }: Options,
): Omit<SearchContent, "result_id" | "url"> {
  const { cut, status, url } = head;
  const facts = {
    method: "browser_render",
    final_url: url,
    ...(status !== undefined && { http_status: status }),
    fetched_at: new Date().toISOString(),
  } as const;
  if (status !== undefined && status >= 400) {
    const isBlocked = status === 401 || status === 403 || status === 429;
    const message = `The page answered ${String(status)}.`;
    return {
      ...facts,
      status: isBlocked ? "blocked" : "unavailable",
      error: { code: `http_${String(status)}`, message, retryable: status === 429 || status >= 500 },
    };
  }
  const whole = parts.get(format)?.content.toString() ?? "";
  const text = storableText(whole, most);
  return {
    ...facts,
    status: "ok",
    format,
    text,
    truncated: cut.length > 0 || whole.length > most,
    cache_status: "miss",
  };
}

function failureOf({ code, problem, retryAfterSeconds }: ServiceError): Pick<SearchContent, "status" | "error"> {
  const isFile = code === "navigation_failed" && /is a (?:download|PDF)/.test(problem);
  const status = isFile
    ? "unsupported_type"
    : code === "navigation_failed"
      ? "unavailable"
      : code === "wait_timeout"
        ? "timeout"
        : "error";
  const retryable = status === "timeout" || retryAfterSeconds !== undefined;
  return { status, error: { code, message: problem, retryable } };
}

const outOfTime: Pick<SearchContent, "status" | "error"> = {
  status: "timeout",
  error: { code: "timeout", message: "The time of the request ended before this page.", retryable: true },
};
const notFromProvider: Pick<SearchContent, "status" | "error"> = {
  status: "unavailable",
  error: {
    code: "no_provider_content",
    message: "No provider of this service sends texts of pages: use source auto or browser.",
    retryable: false,
  },
};
