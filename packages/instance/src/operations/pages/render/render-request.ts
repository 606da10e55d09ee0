import type { CheckedRequestOf } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { renderProblem, typedAddress } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { pageControl } from "../../../protocol/page-endpoints.ts";
import type { RenderPart } from "../../../protocol/render-frame.ts";

export type InstanceRenderRequest = CheckedRequestOf<typeof pageControl.renderPage>["body"];
export type RenderRequest = InstanceRenderRequest["page"];

/** @returns the address to open; `about:blank` for HTML. @throws {ServiceError} 400 for another scheme. */
export function addressOf({ url }: Pick<RenderRequest, "url">): string {
  if (url === undefined) return "about:blank";
  const refusal = renderProblem(url);
  if (refusal !== undefined) throw ServiceError.of(invalid("body.url", refusal.problem, { hint: refusal.hint }));
  return new URL(typedAddress(url.trim())).href;
}

/** The outputs that are named or have options; else `markdown`. */
export function partsOf(request: RenderRequest): ReadonlySet<RenderPart> {
  const { elements, markdown, outline, outputs = [], pdf, screenshot } = request;
  const parts = new Set<RenderPart>(outputs);
  for (const [name, options] of Object.entries({ elements, markdown, outline, pdf, screenshot }))
    if (options !== undefined) parts.add(name as RenderPart);
  return parts.size === 0 ? new Set(["markdown"]) : parts;
}
