//go:build !race

package dashboard

import (
	"slices"
	"strings"
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

// drawManyNodes draws maps of small and large clusters, and lists the names that cover another node or its name, or that two nodes share.
const drawManyNodes = `import('./chart.js').then(({ map }) => {
	const boxes = [3, 5, 8, 10, 30].map(n => {
		const box = document.createElement('div'), drawn = map();
		box.style.width = WIDTH + 'px';
		box.append(drawn.element);
		document.querySelector('main').append(box);
		drawn.update({ links: [], nodes: [...Array(n)].map((_, i) => ({ id: 'ip-10-0-12-' + i + '.eu-central-1.compute.internal', state: 'running', rate: 1234, errors: 0, cpu: 0 })) });
		return box;
	});
	const at = e => e.getBoundingClientRect();
	const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
	const look = () => {
		if (boxes.some(b => !b.querySelector('.dot-label')?.textContent)) return setTimeout(look, 20); // it is drawn when its width is known
		window.covered = boxes.flatMap(box => [...box.querySelectorAll('.dot')].flatMap((dot, i, all) => all.filter(other => {
			const name = dot.querySelector('.dot-label'), its = other.querySelector('.dot-label');
			return other !== dot && (meet(at(name), at(its)) || meet(at(name), at(other.querySelector('.cpu-track'))) || name.textContent === its.textContent);
		}).map(other => dot.querySelector('title').textContent + ' and ' + other.querySelector('title').textContent + ' of ' + all.length)));
	};
	look();
})`

func TestTheNamesOfManyNodesCoverNoOtherNode(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	for _, width := range []string{"640", "302"} {
		b.anew("")
		b.Until(`document.querySelector('.map .dot')`)
		b.Run(chromedp.Evaluate("const WIDTH = "+width+"; "+drawManyNodes, nil))
		b.Until(`window.covered`)
		if covered := evaluate[[]string](b, `window.covered`); len(covered) > 0 {
			t.Errorf("at %s pixels these cannot be told apart: %v", width, covered)
		}
	}
}

// drawManyServices draws the map of 20 services that call each other in a tree and hear events of callers and of each other, and lists
// the edges that pass behind a service, and the names that are cut.
const drawManyServices = `import('./view-map.js').then(({ picture }) => {
	const names = [...Array(20)].map((_, i) => 'service-' + i), edges = [];
	const add = (from, to, events) => edges.push({ from, to, events, count: edges.length + 1, failed: 0, took: 1, names: ['x'] });
	add('callers', names[0]);
	names.forEach((name, i) => {
		for (const to of names.slice(2 * i + 1, 2 * i + 3)) add(name, to);
		if (i) add('callers', name, true);
		if (i % 4 === 3) add(name, names[0], true);
	});
	const box = document.createElement('div'), drawn = picture();
	box.style.width = WIDTH + 'px';
	box.append(drawn.element);
	document.querySelector('main').replaceChildren(box);
	drawn.update(['callers', ...names], edges);
	const look = () => {
		const services = [...box.querySelectorAll('g.service')];
		if (!services.length) return setTimeout(look, 20); // it is drawn when its width is known
		const hidden = [...box.querySelectorAll('.edge')].flatMap(e => services.filter(g => {
			const at = g.transform.baseVal[0].matrix, size = g.querySelector('rect').getBBox();
			return [...Array(99)].some((_, i) => {
				const p = e.getPointAtLength(e.getTotalLength() * (i + 1) / 100);
				return Math.abs(p.x - at.e) < size.width / 2 - 3 && Math.abs(p.y - at.f) < size.height / 2 - 3;
			});
		}).map(g => e.textContent + ' passes behind ' + g.textContent));
		window.poor = [...hidden, ...services.map(g => g.querySelector('text').textContent).filter(name => name.includes('…'))];
	};
	look();
})`

func TestOnAMapOfManyServicesNoEdgePassesBehindOne(t *testing.T) {
	b := openBoardInBrowser(t)
	for _, width := range []string{"1140", "720", "302"} {
		b.anew("settings")
		b.Until(`document.querySelector('[name=theme]:checked')`)
		b.Run(chromedp.Evaluate("const WIDTH = "+width+"; "+drawManyServices, nil))
		b.Until(`window.poor`)
		if poor := evaluate[[]string](b, `window.poor`); len(poor) > 0 {
			t.Errorf("at %s pixels: %v", width, poor)
		}
	}
}

func TestAgesAreByTheClockOfTheNodeNotOfTheBrowser(t *testing.T) {
	n := openNode(t, sabir.HTTP(":0", At("/dashboard")))
	b := openBrowser(t, "http://"+n.HTTPAddr()+"/dashboard")
	b.anew("")
	b.Run(chromedp.Evaluate("{ const now = Date.now; Date.now = () => now() + 3 * 86400e3; location.hash = '#/settings'; }", nil))
	b.Until(`document.querySelector('h1').innerText === 'Settings'`)
	b.view("")
	b.Until(`document.querySelector('tbody tr')`)
	if up := evaluate[string](b, `[...document.querySelector('tbody tr').cells].pop().innerText`); !strings.HasSuffix(up, " s") {
		t.Errorf("a node that has just started is up for %s", up)
	}
}
