import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { Cutter } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { contextOf, type WatchedTarget } from "./watched-target.ts";

const maxArguments = 100;
const maxTextBytes = 16 * 1024;
const maxFrames = 50;
const maxParents = 4;

export function recordConsoleCall(
  recorder: TelemetryRecorder,
  target: WatchedTarget,
  call: Protocol.Runtime.ConsoleAPICalledEvent,
): void {
  if (call.timestamp < target.consoleSinceMs) return;
  const cutter = new Cutter();
  let left = maxTextBytes;
  const args = cutter.list(call.args, maxArguments).map((argument) => {
    const text = cutter.text(describe(argument), left);
    left -= Math.min(left, Buffer.byteLength(text));
    return text;
  });
  const context = contextOf(target, target.contexts.get(call.executionContextId));
  const source = { kind: "cdp", event: "Runtime.consoleAPICalled" } as const;
  const stack = call.stackTrace && { stack_trace: stackOf(call.stackTrace, cutter) };
  const text = args[0] ?? "";
  if (call.type === "error")
    recorder.record({
      type: "console_error",
      category: "console",
      source,
      data: { ...context, level: "error", text, args, ...stack },
      ...cutter.mark,
    });
  else
    recorder.record({
      type: "console_log",
      category: "console",
      source,
      data: { ...context, level: call.type, text, args, ...stack },
      ...cutter.mark,
    });
}

export function recordException(
  recorder: TelemetryRecorder,
  target: WatchedTarget,
  { timestamp, exceptionDetails }: Protocol.Runtime.ExceptionThrownEvent,
): void {
  if (timestamp < target.consoleSinceMs) return;
  const { columnNumber, exception, executionContextId, lineNumber, stackTrace, text, url } = exceptionDetails;
  const cutter = new Cutter();
  const shown = exception === undefined ? text : `${text} ${describe(exception)}`;
  recorder.record({
    type: "console_error",
    category: "console",
    source: { kind: "cdp", event: "Runtime.exceptionThrown" },
    data: {
      ...contextOf(target, executionContextId === undefined ? undefined : target.contexts.get(executionContextId)),
      text: cutter.text(shown, maxTextBytes),
      line: lineNumber,
      column: columnNumber,
      ...(url !== undefined && { source_url: cutter.text(url, 8192) }),
      ...(stackTrace && { stack_trace: stackOf(stackTrace, cutter) }),
    },
    ...cutter.mark,
  });
}

function describe({
  description,
  preview,
  subtype,
  type,
  unserializableValue,
  value,
}: Protocol.Runtime.RemoteObject): string {
  if (type === "string" && typeof value === "string") return value;
  if (type === "object" && subtype !== "error" && preview !== undefined) return describePreview(preview);
  if (unserializableValue !== undefined) return unserializableValue;
  if (description !== undefined) return description;
  if (type === "undefined") return "undefined";
  return value === undefined ? type : JSON.stringify(value);
}

function describePreview({
  description = "Object",
  entries,
  overflow,
  properties,
  subtype,
}: Protocol.Runtime.ObjectPreview): string {
  const isList = subtype === "array" || subtype === "typedarray";
  if (properties.length === 0 && entries === undefined && !overflow)
    return isList ? "[]" : description === "Object" ? "{}" : description;
  const shown =
    entries === undefined
      ? properties.map(({ name, type, value = "…" }) => {
          const text = type === "string" ? JSON.stringify(value) : value;
          return isList ? text : `${name}: ${text}`;
        })
      : entries.map(({ key, value }) =>
          key === undefined ? describePreview(value) : `${key.description ?? ""} => ${value.description ?? ""}`,
        );
  const inside = [...shown, ...(overflow ? ["…"] : [])].join(", ");
  if (isList) return `[${inside}]`;
  return description === "Object" ? `{${inside}}` : `${description} {${inside}}`;
}

function stackOf(stack: Protocol.Runtime.StackTrace, cutter: Cutter, depth = 0): Protocol.Runtime.StackTrace {
  const callFrames = cutter.list(stack.callFrames, maxFrames).map((frame) => ({
    functionName: cutter.text(frame.functionName, 1024),
    scriptId: frame.scriptId,
    url: cutter.text(frame.url, 2048),
    lineNumber: frame.lineNumber,
    columnNumber: frame.columnNumber,
  }));
  return {
    callFrames,
    ...(stack.description !== undefined && { description: stack.description }),
    ...(stack.parent !== undefined && depth < maxParents && { parent: stackOf(stack.parent, cutter, depth + 1) }),
  };
}
