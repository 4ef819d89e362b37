//go:build !race

package dashboard

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sabir-go/sabir"
)

// drawMaps draws maps of clusters of several sizes, with all their links, and lists the names that a link passes behind.
const drawMaps = `import('./chart.js').then(({ map }) => {
	const boxes = [1, 2, 3, 4, 5, 6].map(n => {
		const box = document.createElement('div'), drawn = map();
		box.style.width = WIDTH + 'px';
		box.append(drawn.element);
		document.querySelector('main').append(box);
		const nodes = [...Array(n)].map((_, i) => ({ id: 'of-' + n + '-' + i, state: 'running', rate: 1, errors: 0, cpu: 0 }));
		drawn.update({ nodes, links: nodes.flatMap((a, i) => nodes.slice(i + 1).map(b => ({ a: a.id, b: b.id, rtt: 400 }))) });
		return box;
	});
	const look = () => {
		if (boxes.some(b => !b.querySelector('.dot-label')?.textContent)) return setTimeout(look, 20); // it is drawn when its width is known
		window.crossed = boxes.flatMap(box => [...box.querySelectorAll('.dot-label')].filter(label => {
			const at = label.getBoundingClientRect();
			return [...box.querySelectorAll('.link')].some(line => [...Array(201)].some((_, i) => {
				const p = line.getPointAtLength(line.getTotalLength() * i / 200).matrixTransform(line.getScreenCTM());
				return p.x > at.left && p.x < at.right && p.y > at.top && p.y < at.bottom;
			}));
		}).map(label => label.textContent));
	};
	look();
})`

func TestNoLinkOfTheMapPassesBehindTheNameOfANode(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	for _, width := range []string{"640", "340"} {
		b.anew("")
		b.Until(`document.querySelector('.map .dot')`)
		b.Run(chromedp.Evaluate("const WIDTH = "+width+"; "+drawMaps, nil))
		b.Until(`window.crossed`)
		if crossed := evaluate[[]string](b, `window.crossed`); !slices.Equal(crossed, []string{}) {
			t.Errorf("at %s pixels links pass behind the names %v", width, crossed)
		}
	}
}
