import { ServiceError } from "@shoal/router";
import type { ActResult, PageActEvent } from "@shoal/schemas";
import type { Point } from "../follow/points.ts";
import type { ActOutlines } from "../outline/act-outlines.ts";
import type { References } from "../tabs/references.ts";
import type { Act } from "./act-fields.ts";

/** What telemetry records of an action. */
export type ActEvent = Omit<PageActEvent, "ts">;

const maxCharacters = 500;

/** Collects what an action does, for the telemetry. */
export class ActNote {
  tab: { readonly id: string; readonly targetId: string } | undefined;
  point: Point | undefined;
  readonly outlines: ActOutlines;
  readonly #act: Act;
  readonly #beganMs = performance.now();
  /** As the last outline had it: the action may remove it. */
  readonly #known: { readonly role: string; readonly name: string } | undefined;

  constructor(act: Act, references: Pick<References, "get">, outlines: ActOutlines) {
    this.#act = act;
    this.outlines = outlines;
    this.#known = act.ref === undefined ? undefined : references.get(act.ref);
  }

  done({ element, url }: ActResult): ActEvent {
    return this.#event(element, { page_url: url, ...(element && { ref: element.ref }) });
  }

  failed(error: unknown): ActEvent {
    const [code, message] = ServiceError.isInstance(error)
      ? [error.code, error.message]
      : ["internal_error", "The action failed."];
    return this.#event(undefined, { error_code: code, error: message.slice(0, 4 * maxCharacters) });
  }

  #event(
    found: { readonly role: string; readonly name: string } | undefined,
    outcome: Partial<NonNullable<ActEvent["data"]>>,
  ): ActEvent {
    const { name, ref, role, selector, type: action, url } = this.#act;
    const element = found ?? this.#known;
    const named = element === undefined ? (selector ?? described(role, name)) : described(element.role, element.name);
    return {
      type: "page_act",
      category: "page",
      source: { kind: "kernel_api", event: "browsers.act" },
      data: {
        action,
        ...(this.tab && { tab: this.tab.id, target_id: this.tab.targetId }),
        ...(named !== undefined && { element: named.slice(0, maxCharacters) }),
        ...(ref !== undefined && { ref }),
        ...(this.point && { x: this.point.x, y: this.point.y }),
        ...(url !== undefined && action !== "wait_for" && { url }),
        duration_ms: Math.round(performance.now() - this.#beganMs - this.outlines.spentMs),
        ...this.outlines.fields,
        ...outcome,
      },
    };
  }
}

function described(role: string | undefined, name: string | undefined): string | undefined {
  const quoted = name === undefined || name === "" ? undefined : JSON.stringify(name);
  return role === undefined ? quoted : quoted === undefined ? role : `${role} ${quoted}`;
}
