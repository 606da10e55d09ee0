/** Names the command in texts as the user types it: `./shoal doctor` in a clone. @param typed - such as `./shoal` */
export function asTyped(text: string, typed: string): string {
  return typed === "shoal"
    ? text
    : text.replace(/(^|[\s`"'(])shoal(?= [a-z-])/gm, (_whole, before: string) => before + typed);
}

/** For a stream with texts for people. */
export function writeAsTyped<Stream extends NodeJS.WritableStream>(stream: Stream, typed: string): Stream {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === "string" ? asTyped(chunk, typed) : chunk, ...rest);
  return stream;
}
