import { Checkbox, TextInput } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { ProfileAndProxy } from "../pools/profile-and-proxy.tsx";
import { VideoAndVaults, videoAndVaultsOf } from "../pools/video-and-vaults.tsx";

const initial = {
  ...{ start_url: "", name: "", profile: "", proxy_id: "", video: "", vaults: "" },
  ...{ headless: true, stealth: false },
};
const idleSeconds = 600;

/** Starts a session, and opens its page. */
export function NewSession({ isOpen, close }: { readonly isOpen: boolean; readonly close: () => void }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <FormDialog
      isOpen={isOpen}
      title="New session"
      action="Start"
      initial={initial}
      submit={({ headless, name, profile, proxy_id, start_url, stealth, ...rest }) =>
        shoal.browsers.create({
          timeout_seconds: idleSeconds,
          headless,
          stealth,
          ...(name !== "" && { name }),
          ...(start_url !== "" && { start_url }),
          ...(profile !== "" && { profile: { id: profile } }),
          ...(proxy_id !== "" && { proxy_id }),
          ...videoAndVaultsOf(rest),
        })
      }
      done={({ session_id: id }) => {
        close();
        void queries.invalidateQueries({ queryKey: ["browsers"] });
        void navigate({ to: "/sessions/$id", params: { id } });
      }}
      close={close}
    >
      {({ text, check, set, values }) => (
        <>
          <TextInput label="Start page" placeholder="optional" {...text("start_url")} maxLength={8192} data-autofocus />
          <TextInput label="Name" placeholder="optional" {...text("name")} maxLength={255} />
          <ProfileAndProxy text={text} />
          <VideoAndVaults
            text={text}
            vaults={values.vaults}
            setVaults={(vaults) => {
              set({ vaults });
            }}
          />
          <Checkbox label="Without a window (headless)" {...check("headless")} />
          <Checkbox label="Hide the signs of automation (stealth)" {...check("stealth")} />
        </>
      )}
    </FormDialog>
  );
}
