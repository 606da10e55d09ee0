export { Bell } from "./bell.ts";
export { errorOf } from "./error-of.ts";
export { createId, isId } from "./ids.ts";
export { exceededJsonBound, type JsonBounds, JsonScan } from "./json-bounds.ts";
export { KeyedMutex } from "./keyed-mutex.ts";
export { messageOf } from "./message-of.ts";
export { pathSegment, pathSegments } from "./path-segment.ts";
export { parseMoment } from "./parse-moment.ts";
export { siteDomain } from "./site-domain.ts";
