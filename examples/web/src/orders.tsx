// The list is from GraphQL, with the user who owns it. One order is a REST resource: its ETag says which version of it the user has seen.
import { useCallback, useEffect, useState } from "react";
import { useApi } from "./api.ts";
import { connectionLost, describeError, describeProblem, type Notice, NoticeBox } from "./errors.tsx";
import type { MeQuery } from "./generated/graphql.ts";
import type { components } from "./generated/rest.ts";
import { createKeys } from "./send.ts";
import type { CombinedError } from "urql";

type OrderSummary = NonNullable<NonNullable<NonNullable<MeQuery["me"]>["orders"]>[number]>;
type Order = components["schemas"]["Order"];

interface OrdersProps {
  readonly me?: MeQuery["me"];
  readonly error?: CombinedError;
  readonly onChange: () => void;
}

export function Orders({ me, error, onChange }: OrdersProps) {
  const orders = me?.orders?.filter((order) => order !== null) ?? [];
  return (
    <section aria-labelledby="orders">
      <h2 id="orders">Your orders</h2>
      <NoticeBox notice={error && describeError(error)} />
      <ul>
        {orders.map((order) => (
          <OrderItem key={order.id} order={order} onChange={onChange} />
        ))}
      </ul>
    </section>
  );
}

interface OrderItemProps {
  readonly order: OrderSummary;
  readonly onChange: () => void;
}

function OrderItem({ order: { id, status, total }, onChange }: OrderItemProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <div className="row">
        <span>{total.display}</span>
        <span className="soft">{status}</span>
        <button aria-expanded={isOpen} aria-label={`Details of order ${id}`} onClick={() => setIsOpen(!isOpen)}>
          Details
        </button>
      </div>
      {isOpen && <OrderDetails id={id} onChange={onChange} />}
    </li>
  );
}

function OrderDetails({ id, onChange }: { readonly id: string; readonly onChange: () => void }) {
  const { rest } = useApi();
  const [seen, setSeen] = useState<{ readonly order: Order; readonly etag: string }>();
  const [notice, setNotice] = useState<Notice>();
  const [status, setStatus] = useState("");
  const [keys] = useState(createKeys);

  const show = useCallback((order: Order, response: Response) => {
    setSeen({ order, etag: response.headers.get("etag") ?? "" });
  }, []);

  /** With the ETag of what is shown, the response to an unchanged order is 304, without a body. */
  const load = useCallback(
    async (etag?: string) => {
      const header = etag === undefined ? {} : { "If-None-Match": etag };
      // With the page's own condition, `no-store`: the browser would else answer from its cache, and hide the 304.
      const options = { params: { path: { id }, header }, ...(etag !== undefined && { cache: "no-store" as const }) };
      const { data, error, response } = await rest.GET("/orders/{id}", options);
      if (data) show(data, response);
      else if (response.status !== 304) setNotice(error && describeProblem(error, response));
      return response.status;
    },
    [rest, id, show],
  );

  /** Only the version that the user sees: an order that was paid or shipped meanwhile is shown first. */
  async function cancel(etag: string) {
    const header = { "If-Match": etag, "Idempotency-Key": keys.keyOf(etag) };
    const cancelled = await rest.POST("/orders/{id}/cancellation", { params: { path: { id }, header } });
    const { data, error, response } = cancelled;
    if (data) show(data, response);
    setNotice(error && describeProblem(error, response));
    if (response.status === 412) {
      await load();
      setNotice({ text: "The order has changed. Look at it, and cancel it again if you still want to." });
    }
    onChange();
  }

  const reportLost = useCallback(() => setNotice(connectionLost), []);
  useEffect(() => void load().catch(reportLost), [load, reportLost]);

  if (!seen) return <NoticeBox notice={notice} />;
  const { order, etag } = seen;
  const refresh = async () => setStatus((await load(etag)) === 304 ? "Nothing has changed." : "");
  return (
    <>
      {order.lines.map(({ sku, quantity }) => (
        <p key={sku}>
          {quantity} × {sku}
        </p>
      ))}
      <div className="row">
        <span>{order.status}</span>
        <button onClick={() => void refresh().catch(reportLost)}>Refresh</button>
        <button onClick={() => void cancel(etag).catch(reportLost)}>Cancel order</button>
        <output className="soft">{status}</output>
      </div>
      <NoticeBox notice={notice} />
    </>
  );
}
