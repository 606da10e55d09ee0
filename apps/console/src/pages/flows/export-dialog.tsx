import { Modal, NativeSelect, Stack } from "@mantine/core";
import type { Flow } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { CodeBlock } from "../../parts/code.tsx";
import { Failure, Loading } from "../../parts/states.tsx";

const formats = [
  { value: "playwright_ts", label: "Playwright test, TypeScript" },
  { value: "playwright_python", label: "Playwright test, Python" },
  { value: "json", label: "JSON" },
] as const;

interface ExportDialogProps {
  readonly flow: Flow;
  readonly isOpen: boolean;
  readonly close: () => void;
}

/** Shows the flow as a program to copy. */
export function ExportDialog({ flow: { id, name, version }, isOpen, close }: ExportDialogProps) {
  const { shoal } = useSignedIn();
  const [format, setFormat] = useState<(typeof formats)[number]["value"]>("playwright_ts");
  const { data, error, refetch } = useQuery({
    queryKey: ["flow-export", id, version, format],
    queryFn: async ({ signal }) => {
      const { stream } = await shoal.flows.export(id, { format, version }, { signal });
      return new Response(stream).text();
    },
    enabled: isOpen,
  });
  return (
    <Modal opened={isOpen} onClose={close} title={`Export ${name}`} size="lg">
      <Stack>
        <NativeSelect
          label="Format"
          data={[...formats]}
          value={format}
          onChange={({ currentTarget: { value } }) => {
            setFormat(formats.find((one) => one.value === value)?.value ?? "json");
          }}
          data-autofocus
        />
        {error !== null && <Failure error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Loading label="Loading the file" />}
        {data !== undefined && <CodeBlock code={data} label={`The flow ${name} as a file`} />}
      </Stack>
    </Modal>
  );
}
