// Puts the origin of the page into the examples, copies them, and filters operations. The pages are complete without it.
for (const example of document.querySelectorAll("pre.curl")) {
  example.textContent = example.textContent.replace("http://localhost:4010", location.origin);
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", () => void navigator.clipboard.writeText(example.textContent));
  example.after(button);
}

const field = document.querySelector("#find");
field?.addEventListener("input", () => {
  const query = field.value.trim().toLowerCase();
  for (const article of document.querySelectorAll("article")) {
    const isMatch = article.textContent.toLowerCase().includes(query);
    article.hidden = !isMatch;
    const entry = document.querySelector(`nav a[href="#${article.id}"]`);
    if (entry) entry.parentElement.hidden = !isMatch;
  }
});
