import { computerActionTypes } from "@shoal/schemas";
import { maxScreenPixels } from "@shoal/schemas/viewport-limits";
import { actionFields, type ActionType, fieldsOfAction } from "../base/action-fields.ts";
import { memoryChoices } from "../refusals/sessions.ts";
import type { JsonSchema } from "./json-schema.ts";
import { addKeywords, keywordsOf } from "./stated-rules.ts";

/** An object whose fields depend on one of them. */
export interface Variants {
  /** The field that decides. */
  readonly discriminator: string;
  /** The objects by the value of this field. */
  readonly kinds: Readonly<Record<string, Variant>>;
}

export interface Variant {
  /** The fields of the object, without the discriminator. */
  readonly fields: readonly string[];
  readonly required: readonly string[];
  /** Further keywords of its schema. */
  readonly keywords?: readonly JsonSchema[];
}

const policyNames = {
  properties: { chrome_policy: { maxProperties: 1000, propertyNames: { pattern: "^[A-Za-z][A-Za-z0-9_]{0,199}$" } } },
};
const smallScreen = { width: { maximum: maxScreenPixels }, height: { maximum: maxScreenPixels } };
const required = (...fields: string[]): JsonSchema => ({ required: fields });
const given = { anyOf: [required("ref"), required("role"), required("selector")] };

/** An element is named in one way. `name` needs `role`. */
const ways = ["ref", "role", "selector"];
const nameNeedsRole = { if: required("name"), then: required("role") };
const oneElement = [...keywordsOf({ exactlyOne: ways }), nameNeedsRole];
const atMostOneElement = [...keywordsOf({ atMostOne: ways }), nameNeedsRole];

const special: Partial<Record<ActionType, readonly JsonSchema[]>> = {
  fill: keywordsOf({ exactlyOne: ["text", "secret"] }),
  scroll: [{ if: { not: given }, then: { anyOf: [required("delta_x"), required("delta_y")] } }],
  wait_for: [
    { properties: { text: { minLength: 1 } } },
    {
      if: given,
      then: { not: { anyOf: [required("text"), required("url")] } },
      else: { if: required("text"), then: { not: required("url") }, else: required("url") },
    },
    { if: required("url"), then: { not: required("state") } },
    { if: required("text"), then: { properties: { state: { enum: ["visible", "hidden"] } } } },
  ],
};

function actionVariant(type: ActionType): Variant {
  const { needs = [], target } = actionFields[type];
  return {
    fields: [...fieldsOfAction(type), "timeout_ms", "observe"],
    required: needs,
    keywords: [
      ...(target === "required" ? oneElement : target === "optional" ? atMostOneElement : []),
      ...(special[type] ?? []),
    ],
  };
}

const entries = <Key extends string>(keys: readonly Key[], of: (key: Key) => Variant) =>
  Object.fromEntries(keys.map((key) => [key, of(key)]));

/** The components of the document that are `oneOf` several objects, by name. */
export const variants: Readonly<Record<string, Variants>> = {
  ActOnPage: { discriminator: "type", kinds: entries(Object.keys(actionFields) as ActionType[], actionVariant) },
};

/** Further keywords of components, by name. */
export const furtherKeywords: Readonly<Record<string, readonly JsonSchema[]>> = {
  PageTarget: oneElement,
  // One object, as the wire reference has it: the field of the action's name, and no other.
  ComputerAction: [
    { maxProperties: 2 },
    ...computerActionTypes.map((type) => ({
      if: { required: ["type"], properties: { type: { const: type } } },
      then: required(type),
    })),
  ],
  ...Object.fromEntries(
    ["CreateBrowserPool", "UpdateBrowser", "UpdateBrowserPool"].map((name) => [name, [policyNames]]),
  ),
  CreateBrowser: [
    policyNames,
    {
      // A session in a shared browser has no options of a whole browser.
      if: { required: ["isolation"], properties: { isolation: { const: "context" } } },
      then: {
        properties: {
          headless: { const: true },
          stealth: { const: false },
          kiosk_mode: { const: false },
          chrome_policy: { maxProperties: 0 },
          extensions: { maxItems: 0 },
          location: { maxProperties: 0 },
          conditions: { maxProperties: 0 },
          web_bot_auth: { properties: { enabled: { const: false } } },
          sleep_after_seconds: { const: 0 },
        },
        not: { anyOf: [required("memory"), required("profile")] },
      },
    },
    {
      // A session that replays a network recording records none.
      if: { required: ["replay"] },
      then: { properties: { recording: { properties: { network: { const: false } }, not: required("seed") } } },
    },
    {
      // A session from a snapshot has the settings of the stored one.
      if: { required: ["snapshot"] },
      then: {
        propertyNames: { enum: ["snapshot", "name", "tags", "timeout_seconds", "max_duration_seconds", "region"] },
      },
    },
    {
      // A forkable session has a headless shell.
      if: { required: ["forkable"], properties: { forkable: { const: true } } },
      then: {
        properties: {
          headless: { const: true },
          stealth: { const: false },
          kiosk_mode: { const: false },
          isolation: { const: "process" },
          chrome_policy: { maxProperties: 0 },
          extensions: { maxItems: 0 },
          location: { properties: { locale: { const: "en-US" } } },
          network: { properties: { headers: { maxItems: 0 }, http_auth: { maxItems: 0 } } },
          recording: { properties: { network: { const: false } } },
        },
        not: required("replay"),
      },
    },
    {
      if: { required: ["headless"], properties: { headless: { const: false } } },
      then: { properties: { memory: { enum: memoryChoices.windowed }, viewport: { properties: smallScreen } } },
      else: { properties: { memory: { enum: memoryChoices.headless } } },
    },
  ],
};

/** Replaces flat objects by `oneOf` with one component for each kind: `ActOnPageClick`. */
export function splitVariants(
  components: Record<string, JsonSchema>,
  split: Readonly<Record<string, Variants>>,
): Record<string, JsonSchema> {
  const result: Record<string, JsonSchema> = {};
  for (const [name, component] of Object.entries(components)) {
    const of = split[name];
    if (of === undefined) {
      result[name] = component;
      continue;
    }
    const { properties = {} } = component as { properties?: Record<string, JsonSchema> };
    const { discriminator, kinds } = of;
    const names = Object.keys(kinds).map((kind) => [kind, `${name}${pascal(kind)}`] as const);
    for (const [kind, variant] of names) {
      const { fields = [], keywords = [], required: needed = [] } = kinds[kind] ?? {};
      const { description } = properties[discriminator] ?? {};
      result[variant] = {
        type: "object",
        properties: {
          [discriminator]: { type: "string", const: kind, ...(description !== undefined && { description }) },
          ...Object.fromEntries(fields.map((field) => [field, structuredClone(properties[field])])),
        },
        required: [discriminator, ...needed],
        additionalProperties: false,
      };
      for (const part of keywords) addKeywords(result[variant], structuredClone(part));
    }
    const { description } = component;
    result[name] = {
      ...(description !== undefined && { description }),
      oneOf: names.map(([, variant]) => ({ $ref: `#/components/schemas/${variant}` })),
      discriminator: { propertyName: discriminator },
    };
  }
  return Object.fromEntries(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pascal(text: string): string {
  return text
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
