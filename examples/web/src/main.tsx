import { StrictMode, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { Provider, useQuery } from "urql";
import { ApiContext, createApi, fetchToken, useApi } from "./api.ts";
import { connectionLost, type Notice, NoticeBox } from "./errors.tsx";
import { Feed } from "./feed.tsx";
import { MeDocument } from "./generated/graphql.ts";
import { Orders } from "./orders.tsx";
import { Shop } from "./shop.tsx";

/** Of the platform's seeded data. */
const demoUsers = ["ada", "grace", "linus"];

function Page() {
  const [token, setToken] = useState<string>();
  const [notice, setNotice] = useState<Notice>();
  const api = useMemo(() => createApi(token), [token]);

  async function signIn(user: string) {
    try {
      setToken(user === "" ? undefined : await fetchToken(user));
      setNotice(undefined);
    } catch {
      setNotice(connectionLost);
    }
  }

  return (
    <>
      <header>
        <h1>Letters</h1>
        <label>
          Signed in as{" "}
          <select onChange={({ target }) => void signIn(target.value)}>
            <option value="">guest</option>
            {demoUsers.map((user) => (
              <option key={user}>{user}</option>
            ))}
          </select>
        </label>
      </header>
      <NoticeBox notice={notice} />
      {/* By the key, everything of the previous user leaves the page: cached results, open details, half-written comments. */}
      <ApiContext value={api} key={token ?? ""}>
        <Provider value={api.graphql}>
          <Content />
        </Provider>
      </ApiContext>
    </>
  );
}

function Content() {
  const { isSignedIn } = useApi();
  const [{ data, error }, refresh] = useQuery({ query: MeDocument, pause: !isSignedIn });
  const refreshMe = () => refresh({ requestPolicy: "network-only" });
  return (
    <main>
      {data?.me && (
        <p className="wide">
          {data.me.name} <span className="soft">{data.me.email}</span>
        </p>
      )}
      <Feed />
      <div>
        <Shop onOrder={refreshMe} />
        {isSignedIn && <Orders me={data?.me} error={error} onChange={refreshMe} />}
      </div>
    </main>
  );
}

const place = document.querySelector("#page");
if (place)
  createRoot(place).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
