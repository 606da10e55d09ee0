import { type CdpCommandMethod, cdpCommandMethods } from "@shoal/schemas";

type Value = number | string | boolean | string[];
type Params = Readonly<Record<string, unknown>>;

/** A command without its texts, paths and addresses. */
export interface ShownCommand {
  readonly method: CdpCommandMethod;
  readonly data: Readonly<Record<string, Value>>;
}

const maxIdCharacters = 128;
/** Finds a command quickly among messages that mostly evaluate scripts. JSON may escape any letter of a method. */
const mayAct = /"(?:Input|DOM|Page|Target|Browser|Autofill)\.|\\u00/;
const methods: ReadonlySet<string> = new Set(cdpCommandMethods);

const pointer = "modifiers:int x:num y:num";
/** Of the first finger. */
const touch = Object.entries({
  ...{ force: "num", radius_x: "num", radius_y: "num", rotation_angle: "num", tangential_pressure: "num" },
  ...{ tilt_x: "num", tilt_y: "num", twist: "int", x: "num", y: "num" },
})
  .map(([name, kind]) => `${name}:${kind}:touchPoints.0.${camel(name)}`)
  .join(" ");
const node = "backend_node_id:int node_id:int object_id:str";
const gesture = "gesture_source_type:default/touch/mouse";
const windowStates = "normal/minimized/maximized/fullscreen";

/**
 * The fields of each command's data: `name:kind:path`. Without a path, it is the name in camel case. Kinds are `int`, `num`, `bool`, `str`
 * (an identifier), `length` of a text, `count` of a list, `has` (whether there is a text), `scheme` of an address, `key` (the name of a key that types
 * nothing), `types` (of MIME types), or values separated by slashes: others are reported as `other`.
 */
const fields: Readonly<Record<CdpCommandMethod, string>> = {
  "Input.dispatchMouseEvent": `
    event_type:mousePressed/mouseReleased/mouseMoved/mouseWheel:type button:none/left/middle/right/back/forward buttons:int
    click_count:int delta_x:num delta_y:num force:num pointer_type:mouse/pen tangential_pressure:num tilt_x:num tilt_y:num
    twist:int ${pointer}`,
  "Input.dispatchKeyEvent": `
    event_type:keyDown/keyUp/rawKeyDown/char:type auto_repeat:bool command_count:count:commands is_keypad:bool
    is_system_key:bool location:int modifiers:int named_key:key:key text_length:length:text`,
  "Input.insertText": "text_length:length:text",
  "Input.imeSetComposition": `
    text_length:length:text replacement_end:int replacement_start:int selection_end:int selection_start:int`,
  "Input.dispatchTouchEvent": `
    event_type:touchStart/touchEnd/touchMove/touchCancel:type touch_point_count:count:touchPoints modifiers:int ${touch}`,
  "Input.dispatchDragEvent": `
    event_type:dragEnter/dragOver/drop/dragCancel:type drag_file_count:count:data.files drag_item_count:count:data.items
    drag_mime_categories:types:data.items drag_operations_mask:int:data.dragOperationsMask ${pointer}`,
  "Input.cancelDragging": "",
  "Input.emulateTouchFromMouseEvent": `
    event_type:mousePressed/mouseReleased/mouseMoved/mouseWheel:type button:none/left/middle/right/back/forward
    click_count:int delta_x:num delta_y:num ${pointer}`,
  "Input.synthesizePinchGesture": `${gesture} relative_speed:int scale_factor:num x:num y:num`,
  "Input.synthesizeScrollGesture": `
    ${gesture} prevent_fling:bool repeat_count:int repeat_delay_ms:int speed:int x:num x_distance:num x_overscroll:num y:num
    y_distance:num y_overscroll:num`,
  "Input.synthesizeTapGesture": `duration:int ${gesture} tap_count:int x:num y:num`,
  "DOM.setFileInputFiles": `file_count:count:files ${node}`,
  "DOM.focus": node,
  "DOM.scrollIntoViewIfNeeded": `${node} rect_height:num:rect.height rect_width:num:rect.width rect_x:num:rect.x rect_y:num:rect.y`,
  "Page.bringToFront": "",
  "Page.captureScreenshot": `
    capture_beyond_viewport:bool clip_height:num:clip.height clip_scale:num:clip.scale clip_width:num:clip.width
    clip_x:num:clip.x clip_y:num:clip.y format:jpeg/png/webp from_surface:bool optimize_for_speed:bool quality:int`,
  "Page.captureSnapshot": "format:mhtml",
  "Page.handleJavaScriptDialog": "accept:bool prompt_text_length:length:promptText",
  "Page.navigate": `
    frame_id:str
    referrer_policy:noReferrer/noReferrerWhenDowngrade/origin/originWhenCrossOrigin/sameOrigin/strictOrigin/strictOriginWhenCrossOrigin/unsafeUrl
    referrer_present:has:referrer
    transition_type:link/typed/address_bar/auto_bookmark/auto_subframe/manual_subframe/generated/auto_toplevel/form_submit/reload/keyword/keyword_generated
    url_scheme:scheme:url`,
  "Page.navigateToHistoryEntry": "entry_id:int",
  "Page.reload": "ignore_cache:bool loader_id:str script_length:length:scriptToEvaluateOnLoad",
  "Page.printToPDF": `
    display_header_footer:bool footer_template_present:has:footerTemplate generate_document_outline:bool
    generate_tagged_pdf:bool:generateTaggedPDF header_template_present:has:headerTemplate landscape:bool margin_bottom:num
    margin_left:num margin_right:num margin_top:num page_ranges_present:has:pageRanges paper_height:num paper_width:num
    prefer_css_page_size:bool:preferCSSPageSize print_background:bool scale:num transfer_mode:ReturnAsBase64/ReturnAsStream`,
  "Page.startScreencast": "every_nth_frame:int format:jpeg/png max_height:int max_width:int quality:int",
  "Page.stopScreencast": "",
  "Page.stopLoading": "",
  "Page.close": "",
  "Page.setWebLifecycleState": "state:frozen/active",
  "Target.activateTarget": "target_id:str",
  "Target.closeTarget": "target_id:str",
  "Target.createTarget": `
    background:bool browser_context_id:str enable_begin_frame_control:bool focus:bool for_tab:bool height:int hidden:bool
    left:int new_window:bool top:int url_scheme:scheme:url width:int window_state:${windowStates}`,
  "Target.createBrowserContext": `
    dispose_on_detach:bool proxy_bypass_list_present:has:proxyBypassList proxy_server_present:has:proxyServer
    universal_network_access_origin_count:count:originsWithUniversalNetworkAccess`,
  "Target.disposeBrowserContext": "browser_context_id:str",
  "Target.openDevTools": "target_id:str panel_id:str",
  "Browser.cancelDownload": "download_guid:str:guid browser_context_id:str",
  "Browser.close": "",
  "Browser.setWindowBounds": `
    window_id:int height:int:bounds.height left:int:bounds.left top:int:bounds.top width:int:bounds.width
    window_state:${windowStates}:bounds.windowState`,
  "Browser.setContentsSize": "window_id:int height:int width:int",
  "Autofill.trigger": "field_id:int address_field_count:count:address.fields frame_id:str",
};

interface Field {
  readonly name: string;
  readonly kind: string;
  readonly path: readonly string[];
}

const fieldsOf = new Map<string, readonly Field[]>(
  Object.entries(fields).map(([method, text]) => [
    method,
    text
      .split(/\s+/)
      .filter(Boolean)
      .map((field) => {
        const [name = "", kind = "", path = camel(name)] = field.split(":");
        return { name, kind, path: path.split(".") };
      }),
  ]),
);

/** Returns what telemetry shows of a client's message; `undefined` for messages that do not act on the browser. */
export function shownCommand(message: Buffer): ShownCommand | undefined {
  if (!mayAct.test(message.toString("latin1"))) return undefined;
  const command = read(message);
  const { id, method, params, sessionId } = command;
  if (typeof method !== "string" || !methods.has(method)) return undefined;
  const known = method as CdpCommandMethod;
  return {
    method: known,
    data: {
      ...(Number.isSafeInteger(id) && { command_id: id as number }),
      ...(typeof sessionId === "string" && { session_id: sessionId.slice(0, maxIdCharacters) }),
      ...dataOf(known, isObject(params) ? params : {}),
    },
  };
}

function read(message: Buffer): Params {
  try {
    const command: unknown = JSON.parse(message.toString());
    return isObject(command) ? command : {};
  } catch {
    return {};
  }
}

function dataOf(method: CdpCommandMethod, params: Params): Record<string, Value> {
  const data: Record<string, Value> = {};
  for (const { kind, name, path } of fieldsOf.get(method) ?? []) {
    const shown = shownAs(kind, at(params, path));
    if (shown !== undefined) data[name] = shown;
  }
  if (method === "Autofill.trigger") {
    const mode = isObject(params.card) ? "card" : isObject(params.address) ? "address" : undefined;
    if (mode !== undefined) data.mode = mode;
  }
  return data;
}

function shownAs(kind: string, value: unknown): Value | undefined {
  switch (kind) {
    case "int":
      return Number.isSafeInteger(value) ? (value as number) : undefined;
    case "num":
      return Number.isFinite(value) ? (value as number) : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "str":
      return typeof value === "string" ? value.slice(0, maxIdCharacters) : undefined;
    case "length":
      return typeof value === "string" ? value.length : undefined;
    case "count":
      return Array.isArray(value) ? value.length : undefined;
    case "has":
      return typeof value === "string" ? value !== "" : undefined;
    case "scheme":
      return typeof value === "string" ? schemeOf(value) : undefined;
    case "key":
      // A key of several letters has a name, and types no character.
      return typeof value === "string" && /^[A-Z][A-Za-z0-9]{1,31}$/.test(value) ? value : undefined;
    case "types":
      return Array.isArray(value) ? typesOf(value) : undefined;
    default:
      return typeof value === "string" ? (kind.split("/").includes(value) ? value : "other") : undefined;
  }
}

/** `other` for schemes that could be a part of a text. */
function schemeOf(url: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.slice(0, 64))?.[1]?.toLowerCase();
  return scheme !== undefined && knownSchemes.has(scheme) ? scheme : "other";
}

const knownSchemes = new Set(
  "http https about data blob file javascript chrome chrome-extension devtools view-source ws wss ftp".split(" "),
);
const knownTypes = new Set("text image audio video application font model multipart message".split(" "));

function typesOf(items: readonly unknown[]): string[] {
  const types = items.slice(0, 100).map((item) => {
    const type = isObject(item) && typeof item.mimeType === "string" ? item.mimeType.split("/", 1)[0] : "";
    return type !== undefined && knownTypes.has(type) ? type : "other";
  });
  return [...new Set(types)];
}

function at(params: Params, path: readonly string[]): unknown {
  let value: unknown = params;
  for (const key of path) value = Array.isArray(value) ? value[Number(key)] : isObject(value) ? value[key] : undefined;
  return value;
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function isObject(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
