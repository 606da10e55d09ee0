import type { renderPage } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { createId, renderProblem, typedAddress } from "@shoal/primitives";
import { type Handlers, ServiceError } from "@shoal/router";
import type { RenderPage, RenderedPage } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Access } from "../state/access.ts";
import type { Store } from "../state/store.ts";
import { browserHandlers } from "./browsers.ts";

type Request = z.output<typeof RenderPage>;

/** A pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = btoa("%PDF-1.4\n%%EOF\n");

/** Pages are texts: `html` without its tags, or a page about its address. No scripts run. */
export function renderedPageHandlers(store: Store): Handlers<{ renderPage: typeof renderPage }, Access> {
  const browsers = browserHandlers(store);
  return {
    async renderPage(call) {
      const { profile, proxy, url } = call.body;
      const refusal = url === undefined ? undefined : renderProblem(url);
      if (refusal !== undefined) throw ServiceError.of(invalid("body.url", refusal.problem, { hint: refusal.hint }));
      const body = { ...(profile && { profile: { ...profile, save_changes: false } }), ...(proxy && { proxy }) };
      const session = await browsers.createBrowser({ ...call, body });
      const id = "session_id" in session ? session.session_id : createId();
      await browsers.deleteBrowser({ ...call, params: { id_or_name: id }, body: undefined });
      return render(call.body, id);
    },
  };
}

function render(request: Request, sessionId: string): RenderedPage {
  const { elements = [], html: given, markdown, outline, outputs = [], pdf: print, screenshot, url } = request;
  const address = url === undefined ? "about:blank" : new URL(typedAddress(url.trim())).href;
  const html = given ?? `<!DOCTYPE html><html><head><title>${address}</title></head><body>${address}</body></html>`;
  const title = /<title>([^<]*)<\/title>/i.exec(html)?.[1] ?? "";
  const text = html.replace(/<title>[^<]*<\/title>/gi, "").replaceAll(/<[^>]*>/g, "");
  const wanted = new Set<string>(outputs);
  for (const [name, options] of Object.entries({ elements: elements[0], markdown, outline, pdf: print, screenshot }))
    if (options !== undefined) wanted.add(name);
  if (wanted.size === 0) wanted.add("markdown");
  const all = {
    html,
    markdown: text,
    text,
    links: [],
    outline: text,
    elements: elements.map((selector) => ({ selector, results: [] })),
    screenshot: { content_type: `image/${screenshot?.format ?? "png"}`, data: png },
    pdf: { content_type: "application/pdf", data: pdf },
  };
  return {
    session_id: sessionId,
    url: address,
    ...(url !== undefined && { status: 200 }),
    title,
    redirects: [],
    headers: {},
    dialogs: [],
    cut: [],
    timed_out: false,
    ...Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name))),
  };
}
