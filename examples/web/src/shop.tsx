// By REST: the catalogue in pages, and an order that is placed once, however often its request is sent.
import { type FormEvent, useCallback, useEffect, useState } from "react";
import { useApi } from "./api.ts";
import { connectionLost, describeProblem, type Notice, NoticeBox } from "./errors.tsx";
import type { components } from "./generated/rest.ts";
import { MoreButton, type OnMore, Pages } from "./pages.tsx";
import { createKeys } from "./send.ts";

type Product = components["schemas"]["Product"];

interface ShopProps {
  readonly onOrder: () => void;
}

export function Shop({ onOrder }: ShopProps) {
  return (
    <section aria-labelledby="shop">
      <h2 id="shop">Print editions</h2>
      <Pages>{(after, onMore) => <ProductsPage after={after} onMore={onMore} onOrder={onOrder} />}</Pages>
    </section>
  );
}

interface PageProps extends ShopProps {
  readonly after: string | undefined;
  readonly onMore: OnMore;
}

function ProductsPage({ after, onMore, onOrder }: PageProps) {
  const { publicRest } = useApi();
  const [products, setProducts] = useState<readonly Product[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [notice, setNotice] = useState<Notice>();

  const load = useCallback(async () => {
    try {
      const query = { limit: 4, ...(after !== undefined && { cursor: after }) };
      const { data, error, response } = await publicRest.GET("/products", { params: { query } });
      setNotice(error && describeProblem(error, response));
      if (!data) return;
      setProducts(data.data);
      setNext(data.page.next);
    } catch {
      setNotice(connectionLost);
    }
  }, [publicRest, after]);
  useEffect(() => void load(), [load]);

  return (
    <>
      <NoticeBox notice={notice} />
      <ul>
        {products.map((product) => (
          <ProductItem
            key={product.sku}
            product={product}
            onOrder={() => {
              onOrder();
              void load();
            }}
          />
        ))}
      </ul>
      <MoreButton next={next} onMore={onMore} />
    </>
  );
}

function ProductItem({ product: { sku, title, price, stock }, onOrder }: ShopProps & { readonly product: Product }) {
  const { rest, isSignedIn } = useApi();
  const [quantity, setQuantity] = useState("1");
  const [notice, setNotice] = useState<Notice>();
  const [isSending, setIsSending] = useState(false);
  const [keys] = useState(createKeys);

  async function placeOrder(event: FormEvent) {
    event.preventDefault();
    setIsSending(true);
    const body = { lines: [{ sku, quantity: Number(quantity) }] };
    try {
      const header = { "Idempotency-Key": keys.keyOf(body) };
      const { error, response } = await rest.POST("/orders", { params: { header }, body });
      setNotice(error && describeProblem(error, response));
      if (!error) keys.forget();
      // Also after a conflict: the receipt makes the new stock visible.
      onOrder();
    } catch {
      setNotice(connectionLost);
    }
    setIsSending(false);
  }

  return (
    <li>
      <h3>{title}</h3>
      <p className="soft">
        {formatMoney(price)}, {stock} in stock
      </p>
      {isSignedIn && (
        <form onSubmit={(event) => void placeOrder(event)}>
          <input
            type="number"
            aria-label={`Quantity of ${sku}`}
            value={quantity}
            onChange={({ target }) => setQuantity(target.value)}
          />
          <button disabled={isSending} aria-label={`Order ${sku}`}>
            Order
          </button>
        </form>
      )}
      <NoticeBox notice={notice} />
    </li>
  );
}

function formatMoney({ amountMinor, currency }: components["schemas"]["Money"]): string {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  // Yen have no minor unit, euros have 100 of them.
  return format.format(amountMinor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 0));
}
