import * as z from "zod/mini";
import { DisplayName, Moment, pageFields, Timestamp } from "../base/common.ts";
import { atLeastOne } from "../base/rules.ts";
import { checked, lazyObject, noNul } from "../base/schema.ts";
import { flowContentFields, FlowParameter } from "./flow-step.ts";
import { StoredFlowParameter, StoredFlowStep } from "./stored-flow-step.ts";

/** The formats of `flows.export`. */
export const flowFormats = ["json", "playwright_ts", "playwright_python"] as const;

const summaryFields = () => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project. */
  name: z.string(),
  /** The latest version: 1, and one more with each change of its steps. */
  version: z.int(),
  /** Address of the page on which it starts. */
  start_url: z.string(),
  /** When it was created. */
  created_at: Timestamp,
  /** When its latest version was created. */
  updated_at: Timestamp,
});

/** A flow of a list, without its steps. */
export interface FlowSummary extends z.output<typeof FlowSummary> {}
export const FlowSummary = lazyObject(summaryFields);

/** Actions on pages that the service repeats without a model. */
export interface Flow extends z.output<typeof Flow> {}
export const Flow = lazyObject(() => ({
  ...summaryFields(),
  /** The values that a run sets. */
  parameters: z.array(StoredFlowParameter),
  /** The steps of this version. */
  steps: z.array(StoredFlowStep),
}));

/** An action of a session that a flow cannot repeat. */
export interface SkippedAct extends z.output<typeof SkippedAct> {}
export const SkippedAct = lazyObject(() => ({
  /** The action of `browsers.act`. */
  action: z.string(),
  /** Why it is not a step. */
  reason: z.string(),
}));

/** A new flow from the actions of a session. */
export interface RecordedFlow extends z.output<typeof RecordedFlow> {}
export const RecordedFlow = lazyObject(() => ({
  /** The flow. */
  flow: Flow,
  /** Actions that are not in it, with the reasons. */
  skipped: z.array(SkippedAct),
  /** Earlier actions that the session no longer keeps; 0 if it keeps one from before `since`. The flow begins after them, in the middle of the task. */
  forgotten: z.int(),
}));

/** Input of `flows.create`. */
export interface CreateFlow extends z.input<typeof CreateFlow> {}
export const CreateFlow = lazyObject(() => ({
  /** Unique in the project, 1 to 255 characters. */
  name: DisplayName,
  ...flowContentFields(),
}));

/** Input of `flows.record`. */
export interface RecordFlow extends z.input<typeof RecordFlow> {}
export const RecordFlow = lazyObject(() => ({
  /** Unique in the project, 1 to 255 characters. */
  name: DisplayName,
  /** Only actions from this moment on. */
  since: z.optional(Moment),
  /** Typed texts: `parameters`, with the text as the default, or `literals`. Texts in fields for secrets are always parameters, without a default. */
  values: z._default(z.enum(["parameters", "literals"]), "parameters"),
}));

/** Input of `flows.import`. */
export interface ImportFlow extends z.input<typeof ImportFlow> {}
export const ImportFlow = lazyObject(() => ({
  /** Unique in the project, 1 to 255 characters. Default: the name in the file. */
  name: z.optional(DisplayName),
  /** A file of `flows.export`, in any of its formats. Other Playwright programs are refused. At most 524,288 characters. */
  text: checked(z.string(), z.minLength(1), z.maxLength(524_288), noNul()),
}));

/** Input of `flows.update`. */
export interface UpdateFlow extends z.input<typeof UpdateFlow> {}
export const UpdateFlow = z.lazy(() => {
  const { parameters: _, start_url: startUrl, steps } = flowContentFields();
  return checked(
    z.object({
      /** New name, 1 to 255 characters. */
      name: z.optional(DisplayName),
      /** Address of the page on which the flow starts. */
      start_url: z.optional(startUrl),
      /** At most 50, with different names. */
      parameters: z.optional(checked(z.array(FlowParameter), z.maxLength(50))),
      /** 1 to 200. */
      steps: z.optional(steps),
    }),
    atLeastOne("name", "start_url", "parameters", "steps"),
  );
});

const Version = () => z.optional(z.lazy(() => checked(z.int(), z.minimum(1), z.maximum(2_147_483_647))));

/** Query of `flows.get`. */
export interface GetFlow extends z.input<typeof GetFlow> {}
export const GetFlow = lazyObject(() => ({
  /** An earlier version; the latest when absent. */
  version: Version(),
}));

/** Query of `flows.export`. */
export interface ExportFlow extends z.input<typeof ExportFlow> {}
export const ExportFlow = lazyObject(() => ({
  /** `json`: as `flows.get`; `playwright_ts` and `playwright_python`: a Playwright test. */
  format: z._default(z.enum(flowFormats), "json"),
  /** An earlier version; the latest when absent. */
  version: Version(),
}));

/** Query of `flows.list`. */
export interface ListFlows extends z.input<typeof ListFlows> {}
export const ListFlows = lazyObject(() => ({
  ...pageFields,
}));
