import { Checkbox, NativeSelect, Stack } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import { useQuery } from "@tanstack/react-query";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";

export interface VideoAndVaultsValues {
  /** `""` = the default of the project or the service. */
  readonly video: string;
  /** Ids, separated by spaces. */
  readonly vaults: string;
}

interface VideoAndVaultsProps {
  readonly text: (name: "video") => object;
  readonly vaults: string;
  readonly setVaults: (vaults: string) => void;
}

const most = 20;

const idsIn = (vaults: string): readonly string[] => (vaults === "" ? [] : vaults.split(" "));

/** The fields of a request for new browsers. */
export const videoAndVaultsOf = ({ vaults, video }: VideoAndVaultsValues) => ({
  ...(video !== "" && { recording: { video: video === "on" } }),
  ...(vaults !== "" && { vaults: idsIn(vaults).map((id) => ({ id })) }),
});

/** Whether new browsers are recorded, and the vaults whose items can be used in them. */
export function VideoAndVaults({ text, vaults, setVaults }: VideoAndVaultsProps) {
  const { shoal, project } = useSignedIn();
  const { data = [] } = useQuery({
    queryKey: ["vaults", project?.id, "options"],
    queryFn: async ({ signal }) => (await shoal.vaults.list({}, { signal })).items,
    enabled: useIsAdmin(),
  });
  const chosen = idsIn(vaults);
  return (
    <>
      <NativeSelect
        label="Video"
        data={[
          { value: "", label: "As the project or the service says" },
          { value: "on", label: "Record from the start" },
          { value: "off", label: "Do not record" },
        ]}
        {...text("video")}
      />
      {data.length > 0 && (
        <Checkbox.Group
          label="Vaults"
          description={`Their items can be used in the browser. At most ${most}.`}
          value={[...chosen]}
          onChange={(ids) => {
            setVaults(ids.join(" "));
          }}
        >
          <Stack gap="xs" mt="xs">
            {data.map(({ id, name }) => (
              <Checkbox key={id} value={id} label={name} disabled={chosen.length >= most && !chosen.includes(id)} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
    </>
  );
}
