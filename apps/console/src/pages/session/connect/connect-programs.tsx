import { NativeSelect, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { serviceUrl } from "../../../base/place.ts";
import { CodeBlock } from "../../../parts/code.tsx";
import { programsOf } from "./programs-of.ts";

/** The code of a client that the person chooses. */
export function ConnectPrograms({ sessionId }: { readonly sessionId: string }) {
  const programs = programsOf(sessionId, serviceUrl);
  const [chosen, setChosen] = useState(programs[0]?.name);
  // The dialog has set its focus before this part was loaded.
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    select.current?.focus();
  }, []);
  const program = programs.find(({ name }) => name === chosen);
  const groups = Map.groupBy(programs, ({ door }) => door);
  return (
    <Stack gap="sm">
      <NativeSelect
        ref={select}
        label="Client"
        data={[...groups].map(([group, items]) => ({
          group,
          items: items.map(({ label, name: value }) => ({ label, value })),
        }))}
        value={chosen}
        onChange={({ currentTarget: { value } }) => {
          setChosen(value);
        }}
        data-autofocus
      />
      {program !== undefined && (
        <>
          <CodeBlock code={program.code} label={`Connect: ${program.name}`} />
          {program.notes.map((note) => (
            <Text key={note} size="sm">
              {note}
            </Text>
          ))}
        </>
      )}
      <Text size="sm" c="dimmed">
        The client needs an API key in SHOAL_API_KEY.
      </Text>
    </Stack>
  );
}
